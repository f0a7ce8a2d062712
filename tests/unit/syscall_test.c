/* The checks that come from the rows of syscalls.def. */
#include "kernel/syscall.h"

#include "kernel/abi.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>

static const struct {
    uint32_t nr, arg, accepted;
} flag_rows[] = {
#define SYSCALL(nr, name, args, support, missing)
#define FLAGS(nr, arg, accepted) {nr, arg, (uint32_t)(accepted)},
#include "kernel/syscalls.def"
#undef SYSCALL
};

/* Opens the root directory, and returns its descriptor. */
static int
open_as(struct task *t, uint32_t flags)
{
    return fd_install(t, world_open(t->kernel, NULL, "/", flags, NULL), 0,
                      false);
}

TEST(syscall_refuses_each_flag_that_its_row_does_not_name)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(open_as(t, O_RDONLY), 0);
    for (size_t i = 0; i < sizeof flag_rows / sizeof *flag_rows; i++)
        for (uint32_t bit = 1; bit; bit <<= 1) {
            uint32_t a[6] = {0};
            a[flag_rows[i].arg] = bit;
            bool is_accepted = flag_rows[i].accepted & bit;
            CHECK_EQ(syscall_check(t, flag_rows[i].nr, a),
                     is_accepted ? 0 : -EINVAL);
            if (!is_accepted)
                CHECK_EQ(world_call(t, flag_rows[i].nr, a), -EINVAL);
        }
    kernel_free(k);
}

TEST(syscall_without_flags_accepts_all_arguments)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint32_t a[6] = {0,          UINT32_MAX, UINT32_MAX,
                     UINT32_MAX, UINT32_MAX, UINT32_MAX};

    CHECK_EQ(open_as(t, O_RDONLY), 0);
    CHECK_EQ(syscall_check(t, NR_read, a), 0);
    a[0] = UINT32_MAX;
    CHECK_EQ(syscall_check(t, NR_openat, a), 0);
    kernel_free(k);
}

/* The answer of each call with a descriptor that is open, closed or O_PATH. */
TEST(syscall_checks_the_descriptor_that_its_row_names)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(open_as(t, O_RDONLY), 0);
    CHECK_EQ(open_as(t, O_PATH), 1);
    for (uint32_t nr = 0; nr < SYSCALL_MAX; nr++) {
        const struct syscall_row *row = syscall_row(nr);
        char letter = row ? row->args[0] : 0;
        if (letter != 'f' && letter != 'F')
            continue;
        CHECK_EQ(syscall_check(t, nr, (uint32_t[6]){0}), 0);
        CHECK_EQ(syscall_check(t, nr, (uint32_t[6]){1}),
                 letter == 'F' ? 0 : -EBADF);
        CHECK_EQ(SYS(t, nr, 2), -EBADF);
        CHECK_EQ(SYS(t, nr, 1 << 20), -EBADF);
        CHECK_EQ(SYS(t, nr, UINT32_MAX), -EBADF);
    }
    kernel_free(k);
}
