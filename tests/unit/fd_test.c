/* Descriptor tables and open files. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

static int released, closed;

static void
on_close(struct file *f, struct task *t)
{
    (void)f, (void)t;
    closed++;
}

static void
on_release(struct file *f)
{
    (void)f;
    released++;
}

static const struct file_ops ops = {.close = on_close, .release = on_release};

static struct file *
new_file(struct kernel *k)
{
    struct file *f = NULL;

    (void)file_new(&k->vfs, &ops, NULL, O_RDWR, &f);
    return f;
}

TEST(fd_lowest_free_descriptor_is_used)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    for (int i = 0; i < 40; i++)
        CHECK_EQ(fd_install(t, new_file(k), 0, false), i);
    CHECK_EQ(fd_close(t, 17), 0);
    CHECK_EQ(fd_close(t, 5), 0);
    CHECK_EQ(fd_install(t, new_file(k), 6, false), 17);
    CHECK_EQ(fd_install(t, new_file(k), 0, false), 5);
    CHECK_EQ(fd_install(t, new_file(k), 0, false), 40);
    CHECK_EQ(fd_install(t, new_file(k), 100, false), 100);
    CHECK_EQ(fd_install(t, new_file(k), 0, false), 41);
    kernel_free(k);
}

/* A call that waited continues with its file, although another thread has put
 * another file at its descriptor. If the process ends in that call, each file
 * is put once. */
TEST(fd_close_closes_the_file_of_the_table)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct file *of_call = new_file(k);
    int fd = fd_install(t, new_file(k), 0, false);

    released = 0;
    t->thread->call.file = of_call;
    t->thread->call.first_arg = (uint32_t)fd;
    k->running = t->thread;
    CHECK(fd_find(t, fd) == of_call);
    CHECK_EQ(fd_close(t, fd), 0);
    CHECK_EQ(released, 1);
    CHECK_EQ(of_call->refs, 1);
    k->running = NULL;
    thread_forget_call(t->thread);
    CHECK_EQ(released, 2);
    kernel_free(k);
}

TEST(fd_find_refuses_what_is_not_open)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK(!fd_find(t, 0));
    CHECK(!fd_find(t, -1));
    CHECK(!fd_find(t, INT32_MAX));
    CHECK(!fd_find(t, INT32_MIN));
    CHECK_EQ(fd_close(t, -1), -EBADF);
    CHECK_EQ(fd_close(t, 3), -EBADF);
    kernel_free(k);
}

TEST(fd_close_puts_the_last_reference)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct file *f = new_file(k);

    released = closed = 0;
    CHECK_EQ(fd_install(t, file_get(f), 0, false), 0);
    CHECK_EQ(fd_install(t, f, 0, false), 1);
    CHECK_EQ(fd_close(t, 0), 0);
    CHECK_EQ(closed, 1);
    CHECK_EQ(released, 0);
    CHECK_EQ(fd_close(t, 1), 0);
    CHECK_EQ(closed, 2);
    CHECK_EQ(released, 1);
    CHECK_EQ(k->limits.used[LIMIT_open_files], 0);
    kernel_free(k);
}

TEST(fd_replace_closes_what_was_there)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    released = 0;
    CHECK_EQ(fd_install(t, new_file(k), 0, false), 0);
    CHECK_EQ(fd_replace(t, 0, new_file(k), true), 0);
    CHECK_EQ(released, 1);
    CHECK(t->fds.v[0].cloexec);
    CHECK_EQ(fd_replace(t, 200, new_file(k), false), 200);
    CHECK(fd_find(t, 200));
    CHECK_EQ(fd_install(t, new_file(k), 0, false), 1);
    kernel_free(k);
}

TEST(fd_limit_gives_emfile_and_is_noted)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    t->rlimits[RLIMIT_NOFILE].cur = 3;
    for (int i = 0; i < 3; i++)
        CHECK_EQ(fd_install(t, new_file(k), 0, false), i);
    CHECK_EQ(fd_install(t, new_file(k), 0, false), -EMFILE);
    CHECK(!k->limits.was_hit[LIMIT_fds]);
    CHECK_EQ(fd_close(t, 1), 0);
    CHECK_EQ(fd_install(t, new_file(k), 0, false), 1);
    t->rlimits[RLIMIT_NOFILE].cur = k->limits.max[LIMIT_fds];
    CHECK_EQ(fd_install(t, new_file(k), (int)k->limits.max[LIMIT_fds], false),
             -EMFILE);
    CHECK(k->limits.was_hit[LIMIT_fds]);
    CHECK_EQ(k->limits.used[LIMIT_open_files], 3);
    kernel_free(k);
}

TEST(fd_pair_is_installed_whole_or_not_at_all)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int32_t fds[2] = {-7, -7};

    t->rlimits[RLIMIT_NOFILE].cur = 1;
    CHECK_EQ(fd_install_pair(t, new_file(k), new_file(k), false, fds), -EMFILE);
    CHECK_EQ(fds[0], -7);
    CHECK(!fd_find(t, 0));
    CHECK_EQ(k->limits.used[LIMIT_open_files], 0);
    t->rlimits[RLIMIT_NOFILE].cur = 2;
    CHECK_EQ(fd_install_pair(t, new_file(k), new_file(k), true, fds), 0);
    CHECK_EQ(fds[1], 1);
    CHECK(t->fds.v[0].cloexec && t->fds.v[1].cloexec);
    fd_close_pair(t, fds);
    CHECK(!fd_find(t, 1));
    kernel_free(k);
}

TEST(fd_table_copies_share_files)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct task *u;

    CHECK_EQ(fd_install(t, new_file(k), 3, true), 3);
    u = world_child(k, t);
    CHECK(fd_find(u, 3) == fd_find(t, 3));
    CHECK(u->fds.v[3].cloexec);
    CHECK_EQ(fd_install(u, new_file(k), 0, false), 0);
    CHECK(!fd_find(t, 0));
    fd_close_all(u, true);
    CHECK(!fd_find(u, 3));
    CHECK(fd_find(u, 0));
    CHECK(fd_find(t, 3));
    kernel_free(k);
}

TEST(fd_open_files_limit_gives_enfile)
{
    struct kernel *k = world_new();
    struct file *f, *g = NULL;

    released = 0;
    k->limits.max[LIMIT_open_files] = 1;
    CHECK_EQ(file_new(&k->vfs, &ops, NULL, 0, &f), 0);
    CHECK_EQ(file_new(&k->vfs, &ops, NULL, 0, &g), -ENFILE);
    CHECK(!g);
    CHECK_EQ(released, 1);
    file_put(f);
    file_put(NULL);
    kernel_free(k);
}

TEST(fd_survives_failing_allocations)
{
    EACH_OOM(oom) {
        test_fail_alloc(0);
        struct kernel *k = world_new();
        struct task *t = world_task(k);
        int32_t fds[2];
        test_fail_alloc(oom);
        struct file *a = new_file(k), *b = new_file(k);
        if (a && b) {
            int r = fd_install_pair(t, a, b, false, fds);
            CHECK(r == 0 || r == -ENOMEM);
        } else {
            file_put(a);
            file_put(b);
        }
        struct file *c = new_file(k);
        if (c)
            (void)fd_replace(t, 900, c, false);
        struct task *u = NULL;
        if (task_new(k, t, &u) == 0) {
            task_exit(u, 0);
            task_reap(u);
        }
        bool failed = test_alloc_failed();
        kernel_free(k);
        if (!failed)
            break;
    }
}

TEST(fd_access_mode_decides_what_a_file_is_for)
{
    struct file f = {.flags = O_RDONLY};

    CHECK(file_is_readable(&f) && !file_is_writable(&f));
    f.flags = O_WRONLY;
    CHECK(!file_is_readable(&f) && file_is_writable(&f));
    f.flags = O_RDWR;
    CHECK(file_is_readable(&f) && file_is_writable(&f));
    f.flags = O_RDWR | O_PATH;
    CHECK(!file_is_readable(&f) && !file_is_writable(&f));
}
