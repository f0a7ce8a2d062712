/* A handler without SA_RESTART ends a wait for a lock, a FIFO or a pipe with
 * EINTR. */
#include "guest.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/time.h>

static void
handler(int sig)
{
    (void)sig;
}

int
main(void)
{
    static char buf[100000];
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fds[2];

    tmpdir();
    put("f", "");
    OK(mkfifo("p", 0600));
    int a = OK(open("f", O_RDWR));
    int b = OK(open("f", O_RDWR));
    OK(flock(a, LOCK_EX));
    OK(fcntl(a, F_OFD_SETLK, &fl));
    OK(pipe(fds));

    /* it keeps ticking, so that a signal before the wait does no harm */
    struct sigaction sa = {.sa_handler = handler};
    struct itimerval tick = {{0, 20000}, {0, 20000}};
    OK(sigaction(SIGALRM, &sa, NULL));
    OK(setitimer(ITIMER_REAL, &tick, NULL));
    CHECK_ERR(flock(b, LOCK_EX), EINTR);
    CHECK_ERR(fcntl(b, F_OFD_SETLKW, &fl), EINTR);
    CHECK_ERR(open("p", O_RDONLY), EINTR);
    CHECK_ERR(open("p", O_WRONLY), EINTR);
    CHECK_ERR(read(fds[0], buf, 1), EINTR);
    CHECK_EQ(write(fds[1], buf, sizeof buf), 65536); /* what fitted */
    CHECK_ERR(write(fds[1], buf, 1), EINTR);
    return 0;
}
