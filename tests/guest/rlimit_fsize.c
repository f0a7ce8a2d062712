/* At RLIMIT_FSIZE writes are cut short, then fail with EFBIG and SIGXFSZ. */
#include "guest.h"

#include <signal.h>
#include <sys/resource.h>

static volatile sig_atomic_t signals;

static void
handler(int sig)
{
    signals += sig == SIGXFSZ;
}

int
main(void)
{
    char buf[64] = {0};
    int fds[2];

    tmpdir();
    put("f", "");
    int fd = OK(open("f", O_RDWR));
    struct rlimit rl = {100, RLIM_INFINITY};
    OK(getrlimit(RLIMIT_FSIZE, &rl));
    rl.rlim_cur = 100;
    OK(setrlimit(RLIMIT_FSIZE, &rl));
    signal(SIGXFSZ, handler);
    CHECK_EQ(write(fd, buf, 64), 64);
    CHECK_EQ(write(fd, buf, 64), 36);
    CHECK_EQ(signals, 0);
    CHECK_ERR(write(fd, buf, 64), EFBIG);
    CHECK_EQ(signals, 1);
    CHECK_ERR(ftruncate(fd, 101), EFBIG);
    CHECK_EQ(signals, 2);
    CHECK_ERR(fallocate(fd, 0, 0, 101), EFBIG);
    CHECK_EQ(signals, 3);
    CHECK_ERR(pwrite(fd, buf, 1, 1000), EFBIG);
    CHECK_EQ(signals, 4);
    CHECK_EQ(write(fd, buf, 0), 0);
    CHECK_EQ(pwrite(fd, buf, 64, 0), 64);
    CHECK_EQ(stat_of("f").st_size, 100);

    OK(pipe(fds)); /* only regular files count */
    for (int i = 0; i < 4; i++)
        CHECK_EQ(write(fds[1], buf, 64), 64);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_ERR(write(fd, buf, 1), EFBIG);
    return 0;
}
