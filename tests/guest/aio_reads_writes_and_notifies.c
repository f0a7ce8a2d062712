/* Asynchronous I/O: requests complete in any order, and are waited for,
 * notified and cancelled as POSIX says. */
#include "thread.h"

#include <aio.h>

static int fd;
static volatile int signalled, seen;
static sem_t done;

static void
finish(struct aiocb *cb)
{
    const struct aiocb *list[] = {cb};

    while (aio_error(cb) == EINPROGRESS)
        CHECK(aio_suspend(list, 1, NULL) == 0 || errno == EINTR);
}

static void
reads_and_writes(void)
{
    char text[] = "hello world", back[32] = "";
    struct aiocb w = {.aio_fildes = fd,
                      .aio_buf = text,
                      .aio_nbytes = sizeof text - 1,
                      .aio_offset = 100};
    struct aiocb r = {.aio_fildes = fd,
                      .aio_buf = back,
                      .aio_nbytes = sizeof back,
                      .aio_offset = 106};

    w.aio_sigevent.sigev_notify = r.aio_sigevent.sigev_notify = SIGEV_NONE;
    OK(aio_write(&w));
    finish(&w);
    CHECK_EQ(aio_error(&w), 0);
    CHECK_EQ(aio_return(&w), 11);
    OK(aio_read(&r));
    finish(&r);
    CHECK_EQ(aio_return(&r), 5);
    CHECK_STR(back, "world");
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 0); /* offsets are the requests' own */

    OK(aio_fsync(O_SYNC, &w));
    finish(&w);
    CHECK_EQ(aio_return(&w), 0);
}

static void
errors(void)
{
    struct aiocb cb = {.aio_fildes = -1, .aio_buf = "x", .aio_nbytes = 1};

    cb.aio_sigevent.sigev_notify = SIGEV_NONE;
    if (aio_write(&cb) == 0) { /* at once, or as the result */
        finish(&cb);
        CHECK_EQ(aio_error(&cb), EBADF);
        CHECK_EQ(aio_return(&cb), -1);
    } else {
        CHECK_EQ(errno, EBADF);
    }
}

static void
on_signal(int sig, siginfo_t *info, void *context)
{
    CHECK_EQ(info->si_code, SI_ASYNCIO);
    seen = info->si_value.sival_int;
    signalled++;
}

static void
on_thread(union sigval v)
{
    seen = v.sival_int;
    OK(sem_post(&done));
}

static void
notifications(void)
{
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct aiocb cb = {.aio_fildes = fd, .aio_buf = "x", .aio_nbytes = 1};
    sigset_t set, old;

    OK(sigaction(SIGUSR1, &sa, NULL));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    OK(sigprocmask(SIG_BLOCK, &set, &old));
    cb.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
    cb.aio_sigevent.sigev_signo = SIGUSR1;
    cb.aio_sigevent.sigev_value.sival_int = 42;
    OK(aio_write(&cb));
    while (!signalled)
        sigsuspend(&old);
    CHECK_EQ(seen, 42);
    CHECK_EQ(aio_return(&cb), 1);
    OK(sigprocmask(SIG_SETMASK, &old, NULL));

    OK(sem_init(&done, 0, 0));
    cb.aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_THREAD,
                                        .sigev_notify_function = on_thread,
                                        .sigev_value.sival_int = 43};
    OK(aio_write(&cb));
    while (sem_wait(&done) < 0)
        CHECK_EQ(errno, EINTR);
    CHECK_EQ(seen, 43);
    CHECK_EQ(aio_return(&cb), 1);
}

static void
lists(void)
{
    char text[4][8] = {"one", "two", "three", "four"}, back[4][8];
    struct aiocb cb[4], *list[5] = {NULL};
    struct sigevent none = {.sigev_notify = SIGEV_NONE};

    for (int i = 0; i < 4; i++) {
        cb[i] = (struct aiocb){.aio_fildes = fd,
                               .aio_buf = text[i],
                               .aio_nbytes = 8,
                               .aio_offset = 8 * i,
                               .aio_lio_opcode = LIO_WRITE,
                               .aio_sigevent = none};
        list[i] = &cb[i];
    }
    CHECK_ERR(lio_listio(LIO_WAIT + LIO_NOWAIT + 1, list, 5, NULL), EINVAL);
    OK(lio_listio(LIO_WAIT, list, 5, NULL));
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(aio_error(&cb[i]), 0);
        CHECK_EQ(aio_return(&cb[i]), 8);
        cb[i].aio_buf = back[i];
        cb[i].aio_lio_opcode = i == 3 ? LIO_NOP : LIO_READ;
    }
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = on_thread,
                             .sigev_value.sival_int = 44};
    OK(lio_listio(LIO_NOWAIT, list, 5, &event));
    while (sem_wait(&done) < 0)
        CHECK_EQ(errno, EINTR);
    CHECK_EQ(seen, 44);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(aio_error(&cb[i]), 0);
        CHECK_EQ(aio_return(&cb[i]), 8);
        CHECK_STR(back[i], text[i]);
    }
}

/* A read of an empty pipe waits, and is suspended for, in vain and not. */
static void
waiting(void)
{
    int fds[2];
    char byte;
    struct timespec soon = {.tv_nsec = 5000000};

    OK(pipe(fds));
    struct aiocb cb = {.aio_fildes = fds[0], .aio_buf = &byte, .aio_nbytes = 1};
    const struct aiocb *list[] = {&cb};
    cb.aio_sigevent.sigev_notify = SIGEV_NONE;
    OK(aio_read(&cb));
    CHECK_EQ(aio_error(&cb), EINPROGRESS);
    CHECK_ERR(aio_suspend(list, 1, &soon), EAGAIN);
    CHECK_EQ(write(fds[1], "!", 1), 1);
    finish(&cb);
    CHECK_EQ(aio_return(&cb), 1);
    CHECK_EQ(byte, '!');
    CHECK_EQ(aio_cancel(fds[0], &cb), AIO_ALLDONE);
    CHECK_EQ(aio_cancel(fds[0], NULL), AIO_ALLDONE);
    CHECK_ERR(aio_cancel(-1, NULL), EBADF);
    OK(close(fds[0]));
    OK(close(fds[1]));
}

int
main(void)
{
    tmpdir();
    fd = OK(open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    reads_and_writes();
    errors();
    notifications();
    lists();
    waiting();
    return 0;
}
