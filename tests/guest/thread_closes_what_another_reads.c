/* A descriptor that is closed while another thread waits in it: the wait goes
 * on with the open file, as on Linux. A new file of that number is not read. */
#include "thread.h"

static int fds[2];
static volatile pid_t tid;

static void *
read_one(void *arg)
{
    char byte = 0;

    tid = thread_id();
    ssize_t n = read(fds[0], &byte, 1);
    (void)arg;
    return (void *)(long)(n == 1 ? byte : -1);
}

static void *
many(void *arg)
{
    int *p = arg;
    char byte;
    long n = 0;

    while (read(p[0], &byte, 1) == 1)
        n++;
    return (void *)n;
}

int
main(void)
{
    int other[2];
    pthread_t t[5];
    long total = 0;

    OK(pipe(fds));
    t[0] = thread_start(read_one, NULL);
    thread_await((volatile int *)&tid);
    thread_await_sleep(tid);
    int keep = OK(dup(fds[0]));
    OK(close(fds[0]));
    OK(pipe(other)); /* takes the number */
    CHECK_EQ(other[0], fds[0]);
    CHECK_EQ(write(other[1], "n", 1), 1);
    CHECK_EQ(write(fds[1], "o", 1), 1);
    CHECK_EQ((long)thread_join(t[0]), 'o');
    OK(close(keep));

    for (int i = 0; i < 5; i++)
        t[i] = thread_start(many, other);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(write(other[1], "abc", 3), 3);
    OK(close(other[1]));
    for (int i = 0; i < 5; i++)
        total += (long)thread_join(t[i]);
    CHECK_EQ(total, 3001);
    return 0;
}
