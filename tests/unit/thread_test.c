/* Threads of a process. */
#include "kernel/guard.h"
#include "kernel/syscall.h"
#include "world.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

TEST(a_thread_that_cannot_be_created_leaves_the_charge_of_its_process)
{
    struct engine e = {.spawn_fails = true};
    struct kernel *k = world_new_on(&e);
    struct task *t = world_task(k);
    uint64_t charged = t->memory_bytes, all = world_memory(k);

    CHECK(charged > 0);
    CHECK(!world_thread(t));
    CHECK_EQ(t->memory_bytes, charged);
    CHECK_EQ(world_memory(k), all);
    e.spawn_fails = false;
    CHECK(world_thread(t));
    CHECK_EQ(t->memory_bytes, charged);
    kernel_free(k);
}

TEST(a_thread_needs_memory_for_each_of_its_parts)
{
    struct kernel *k = world_new_on(&(struct engine){0});
    struct task *t = world_task(k);
    uint64_t processes = k->limits.used[LIMIT_processes];

    EACH_OOM(oom) {
        struct thread *th = world_thread(t);
        CHECK(!th == test_alloc_failed());
        CHECK_EQ(task_is_threaded(t), th != NULL);
        if (th)
            thread_free(th);
        CHECK_EQ(k->limits.used[LIMIT_processes], processes);
    }
    kernel_free(k);
}

/* A thread whose stack ends above the page GUARD. */
enum { GUARD = 0x5000, START = 0x8000 };

static int
guarded_thread(struct task *t, gaddr guard)
{
    const uint32_t flags =
        CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS;
    const uint32_t start[3] = {0, 0, guard};

    memcpy(world_at(t, START), start, sizeof start);
    return (int)SYS(t, NR_clone, flags, START);
}

TEST(a_thread_that_writes_below_its_stack_ends_its_process)
{
    struct kernel *k = world_new_on(&(struct engine){0});
    struct task *t = world_task(k);
    struct thread *th = thread_find(t, guarded_thread(t, GUARD));

    CHECK(th && guard_is_intact(th));
    thread_switch(th);
    CHECK_EQ(thread_syscall(th, NR_getpid, (uint32_t[6]){0}), t->pid);
    for (gaddr at = GUARD; at < GUARD + 4096; at += 13) {
        uint8_t *byte = world_at(t, at);
        (*byte)++;
        CHECK(!guard_is_intact(th));
        (*byte)--;
        CHECK(guard_is_intact(th));
    }
    memset(world_at(t, GUARD + 4000), 0, 8);
    (void)thread_syscall(th, NR_getpid, (uint32_t[6]){0});
    CHECK_EQ(th->leaving, LEAVE_OVERFLOW);
    kernel_free(k);
}

TEST(a_guard_outside_of_memory_is_refused)
{
    struct kernel *k = world_new_on(&(struct engine){0});
    struct task *t = world_task(k);

    CHECK_EQ(guarded_thread(t, FAKE_MEMORY_BYTES), -EFAULT);
    CHECK_EQ(guarded_thread(t, UINT32_MAX), -EFAULT);
    CHECK(!task_is_threaded(t));
    CHECK(guarded_thread(t, 0) > 0);
    kernel_free(k);
}
