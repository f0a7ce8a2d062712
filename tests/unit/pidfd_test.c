/* Processes as files. */
#include "world.h"

#include "kernel/pidfd.h"

#include <errno.h>
#include <signal.h>

TEST(pidfd_wakes_at_the_end_and_outlives_its_process)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *child = world_child(k, t), *found;

    CHECK_EQ(SYS(t, NR_pidfd_open, (uint32_t)child->pid, 0), 0);
    struct file *f = fd_find(t, 0);
    CHECK_EQ(pidfd_task(f, &found), 0);
    CHECK(found == child);
    CHECK_EQ(file_poll(f, NULL), 0);
    CHECK_EQ(thread_wait_file(t->thread, f), -EWAIT);
    thread_free(STEAL(child->thread));
    task_exit(child, SIGTERM);
    task_notify(child);
    CHECK(world_is_woken(t));
    CHECK_EQ(file_poll(f, NULL), POLLIN | POLLRDNORM);
    task_reap(child);
    CHECK_EQ(pidfd_task(f, &found), -ESRCH);
    CHECK_EQ(file_poll(f, NULL), POLLIN | POLLRDNORM);
    kernel_free(k);
}

TEST(pidfd_may_go_before_its_process)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct file *f;

    EACH_OOM(oom) {
        if (pidfd_new(t, 0, &f) == 0)
            file_put(f);
    }
    CHECK(list_is_empty(&t->pidfds));
    kernel_free(k);
}
