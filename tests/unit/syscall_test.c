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

TEST(syscall_refuses_each_flag_that_its_row_does_not_name)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    for (size_t i = 0; i < sizeof flag_rows / sizeof *flag_rows; i++)
        for (uint32_t bit = 1; bit; bit <<= 1) {
            uint32_t a[6] = {0};
            a[flag_rows[i].arg] = bit;
            bool is_accepted = flag_rows[i].accepted & bit;
            CHECK_EQ(syscall_check(flag_rows[i].nr, a),
                     is_accepted ? 0 : -EINVAL);
            if (!is_accepted)
                CHECK_EQ(world_call(t, flag_rows[i].nr, a), -EINVAL);
        }
    kernel_free(k);
}

TEST(syscall_without_flags_accepts_all_arguments)
{
    const uint32_t a[6] = {UINT32_MAX, UINT32_MAX, UINT32_MAX,
                           UINT32_MAX, UINT32_MAX, UINT32_MAX};

    CHECK_EQ(syscall_check(NR_read, a), 0);
    CHECK_EQ(syscall_check(NR_openat, a), 0);
}
