/* A thread whose stack another thread has used before begins with empty keys,
 * errno 0, and cancellation enabled; and mmap still gives zeroes where such a
 * stack was. */
#include "thread.h"

#include <sys/mman.h>

enum { STACK_BYTES = 1 << 20, ROUNDS = 20, KEYS = 8 };
static pthread_key_t keys[KEYS];

/* Reaches deep into the stack. */
static void
soil(void)
{
    volatile char deep[STACK_BYTES / 2];

    memset((char *)deep, 0xa5, sizeof deep);
}

static void *
run(void *arg)
{
    int state, type;

    CHECK_EQ(errno, 0);
    for (int i = 0; i < KEYS; i++)
        CHECK(pthread_getspecific(keys[i]) == NULL);
    CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0);
    CHECK_EQ(state, PTHREAD_CANCEL_ENABLE);
    CHECK_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type), 0);
    CHECK_EQ(type, PTHREAD_CANCEL_DEFERRED);

    errno = EDOM;
    for (int i = 0; i < KEYS; i++)
        CHECK_EQ(pthread_setspecific(keys[i], arg), 0);
    soil();
    return NULL;
}

static void
check_zeroes(void)
{
    const char *p = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(p != MAP_FAILED);
    for (int i = 0; i < 2 * STACK_BYTES; i++)
        CHECK_EQ(p[i], 0);
    OK(munmap((void *)p, 2 * STACK_BYTES));
}

int
main(void)
{
    pthread_attr_t attr;
    pthread_t t;

    for (int i = 0; i < KEYS; i++)
        CHECK_EQ(pthread_key_create(&keys[i], NULL), 0);
    CHECK_EQ(pthread_attr_init(&attr), 0);
    CHECK_EQ(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(pthread_create(&t, &attr, run, &t), 0);
        thread_join(t);
    }
    check_zeroes();
    return 0;
}
