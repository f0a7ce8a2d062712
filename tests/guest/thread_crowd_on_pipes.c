/* Many threads on one pipe and in one poll: each byte is read once, each thread
 * that polls sees the end, and descriptors that a thread opens serve another.
 */
#include "thread.h"

#include <poll.h>

enum { READERS = 30, WRITERS = 10, BYTES = 500 };

static int fds[2];
static volatile long count[READERS];

static void *
polls_and_reads(void *arg)
{
    volatile long *n = arg;
    struct pollfd p = {.fd = fds[0], .events = POLLIN};
    char byte;

    for (;;) {
        CHECK_EQ(poll(&p, 1, -1), 1);
        ssize_t got = read(fds[0], &byte, 1);
        if (got == 0)
            return NULL;
        if (got < 0)
            CHECK_EQ(errno, EAGAIN); /* another thread was faster */
        else
            ++*n;
    }
}

static void *
writes(void *arg)
{
    for (int i = 0; i < BYTES; i++)
        CHECK_EQ(write(fds[1], "x", 1), 1);
    return arg;
}

/* Opens a pipe for the thread that joins it. */
static void *
opens(void *arg)
{
    int *p = arg;

    OK(pipe(p));
    CHECK_EQ(write(p[1], "hello", 5), 5);
    OK(close(p[1]));
    return NULL;
}

static void
check_crowd(void)
{
    pthread_t reader[READERS], writer[WRITERS];
    long total = 0;

    OK(pipe(fds));
    OK(fcntl(fds[0], F_SETFL, O_NONBLOCK));
    for (int i = 0; i < READERS; i++)
        reader[i] = thread_start(polls_and_reads, (void *)&count[i]);
    for (int i = 0; i < WRITERS; i++)
        writer[i] = thread_start(writes, NULL);
    for (int i = 0; i < WRITERS; i++)
        thread_join(writer[i]);
    OK(close(fds[1]));
    for (int i = 0; i < READERS; i++) {
        thread_join(reader[i]);
        total += count[i];
    }
    CHECK_EQ(total, WRITERS * BYTES);
    OK(close(fds[0]));
}

static void
check_passed(void)
{
    int p[20][2];
    pthread_t t[20];
    char text[8] = "";

    for (int i = 0; i < 20; i++)
        t[i] = thread_start(opens, p[i]);
    for (int i = 0; i < 20; i++) {
        thread_join(t[i]);
        CHECK_EQ(read(p[i][0], text, sizeof text), 5);
        CHECK_EQ(read(p[i][0], text, sizeof text), 0);
        OK(close(p[i][0]));
    }
}

int
main(void)
{
    check_crowd();
    check_passed();
    return 0;
}
