/* futex(2) itself: wait, wake n, requeue, bitsets, timeouts and errors. */
#include "thread.h"

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

/* As <linux/futex.h> has them, which not every system has. */
enum {
    FUTEX_PRIVATE = 128,
    FUTEX_WAIT_PRIVATE = 0 | FUTEX_PRIVATE,
    FUTEX_WAKE_PRIVATE = 1 | FUTEX_PRIVATE,
    FUTEX_CMP_REQUEUE_PRIVATE = 4 | FUTEX_PRIVATE,
    FUTEX_WAKE_OP_PRIVATE = 5 | FUTEX_PRIVATE,
    FUTEX_WAIT_BITSET_PRIVATE = 9 | FUTEX_PRIVATE,
    FUTEX_WAKE_BITSET_PRIVATE = 10 | FUTEX_PRIVATE,
    OP_ADD = 1,
    IF_LESS = 2,
};
#define FUTEX_OP(op, arg, cmp, than) \
    ((op) << 28 | (cmp) << 24 | (arg) << 12 | (than))

enum { THREADS = 5 };
static int word, other;
static pid_t tids[THREADS];
static int results[THREADS];

static long
futex(int *p, int op, int value, void *four, int *p2, unsigned value3)
{
    return syscall(SYS_futex, p, op, value, four, p2, value3);
}

static void *
wait_bits(void *arg)
{
    long me = (long)arg;

    tids[me] = thread_id();
    results[me] =
        (int)futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 7, NULL, NULL, 1u << me);
    return NULL;
}

static void
start(pthread_t *t)
{
    memset(tids, 0, sizeof tids);
    for (long i = 0; i < THREADS; i++) {
        t[i] = thread_start(wait_bits, (void *)i);
        thread_await((volatile int *)&tids[i]);
        thread_await_sleep(tids[i]);
    }
}

int
main(void)
{
    struct timespec ts = {.tv_nsec = 5000000};
    pthread_t t[THREADS];

    word = 7;
    CHECK_ERR(futex(&word, FUTEX_WAIT_PRIVATE, 8, NULL, NULL, 0), EAGAIN);
    CHECK_ERR(futex(&word, FUTEX_WAIT_PRIVATE, 7, &ts, NULL, 0), ETIMEDOUT);
    OK(clock_gettime(CLOCK_MONOTONIC, &ts));
    CHECK_ERR(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 7, &ts, NULL, ~0u),
              ETIMEDOUT);
    CHECK_ERR(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 7, &ts, NULL, 0), EINVAL);
    CHECK_ERR(
        futex((int *)((char *)&word + 1), FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0),
        EINVAL);
    CHECK_ERR(futex(BAD_ADDR, FUTEX_WAIT_PRIVATE, 7, NULL, NULL, 0), EFAULT);
    CHECK_EQ(futex(&word, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0), 0);

    start(t);
    CHECK_EQ(futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 9, NULL, NULL, 1u << 3),
             1);
    thread_join(t[3]);
    CHECK_EQ(futex(&word, FUTEX_WAKE_PRIVATE, 2, NULL, NULL, 0), 2);
    CHECK_ERR(futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 0, (void *)9, &other, 8),
              EAGAIN);
    CHECK_EQ(futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)9, &other, 7),
             2);
    CHECK_EQ(futex(&word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 0);
    CHECK_EQ(futex(&other, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 1);
    for (int i = 0; i < THREADS; i++)
        if (i != 3)
            thread_join(t[i]);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(results[i], 0);

    start(t);
    other = 5; /* other = 5 + 3; the old value 5 is below 6 */
    CHECK_EQ(futex(&word, FUTEX_WAKE_OP_PRIVATE, THREADS, (void *)1, &other,
                   FUTEX_OP(OP_ADD, 3, IF_LESS, 6)),
             THREADS);
    CHECK_EQ(other, 8);
    for (int i = 0; i < THREADS; i++)
        thread_join(t[i]);
    return 0;
}
