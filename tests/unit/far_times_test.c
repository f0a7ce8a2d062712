/* Times at the ends of what can be told. */
#include "world.h"

#include "kernel/abi.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { PATH = 64, AT = 128, FDS = 256, BUF = 4096 };

static int32_t
set_times(struct task *t, int64_t sec, int32_t nsec)
{
    struct abi_timespec ts[2] = {{sec, nsec, 0}, {sec, nsec, 0}};

    memcpy(world_at(t, AT), ts, sizeof ts);
    return SYS(t, NR_utimensat, AT_FDCWD, PATH, AT, 0);
}

TEST(far_times_of_files_are_shown_as_they_were_set_or_the_last)
{
    const int64_t last = NS_NEVER / NS_PER_S;
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct abi_stat st;

    world_str(t, PATH, "/");
    CHECK_EQ(set_times(t, 1 - last, 5), 0);
    CHECK_EQ(SYS(t, NR_fstatat64, AT_FDCWD, PATH, BUF, 0), 0);
    memcpy(&st, world_at(t, BUF), sizeof st);
    CHECK_EQ(st.mtime.sec, 1 - last);
    CHECK_EQ(st.mtime.nsec, 5);
    CHECK_EQ(set_times(t, last, 999999999), 0);
    CHECK_EQ(SYS(t, NR_fstatat64, AT_FDCWD, PATH, BUF, 0), 0);
    memcpy(&st, world_at(t, BUF), sizeof st);
    CHECK_EQ(st.mtime.sec, last);
    kernel_free(k);
}

/* A virtual clock goes where sleepers send it. */
TEST(far_times_of_a_virtual_clock_stay_there)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    const int64_t second[2] = {1, 0};
    int32_t fds[2];

    clock_jump(&k->clock, NS_NEVER - 10);
    CHECK_EQ(SYS(t, NR_clock_gettime, CLOCK_MONOTONIC, AT), 0);
    CHECK_EQ(SYS(t, NR_clock_gettime, CLOCK_MONOTONIC, AT), 0);
    CHECK_EQ(SYS(t, NR_socketpair, AF_UNIX, SOCK_STREAM, 0, FDS), 0);
    memcpy(fds, world_at(t, FDS), sizeof fds);
    memcpy(world_at(t, AT), second, sizeof second);
    CHECK_EQ(SYS(t, NR_setsockopt, (uint32_t)fds[0], SOL_SOCKET, 66, AT, 16),
             0);
    CHECK_EQ(SYS(t, NR_read, (uint32_t)fds[0], BUF, 1), -EWAIT);
    kernel_free(k);
}
