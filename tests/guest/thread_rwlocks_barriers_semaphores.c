/* Read-write locks, barriers, semaphores, spin locks, once, and keys with
 * destructors. */
#include "thread.h"

enum { THREADS = 6 };
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_key_t key;
static sem_t sem, posted;
static int once_runs, destroyed, counter;
static volatile int inside, serial;

static void
run_once(void)
{
    sched_yield();
    once_runs++;
}

static void
destroy(void *value)
{
    CHECK(value != NULL);
    __sync_fetch_and_add(&destroyed, 1);
}

static void *
reader(void *arg)
{
    (void)arg;
    CHECK_EQ(pthread_rwlock_rdlock(&rw), 0);
    __sync_fetch_and_add(&inside, 1);
    while (inside < THREADS) /* all are inside at once */
        sched_yield();
    CHECK_EQ(pthread_rwlock_trywrlock(&rw), EBUSY);
    int r = pthread_barrier_wait(&barrier);
    CHECK(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
    if (r)
        __sync_fetch_and_add(&serial, 1);
    CHECK_EQ(pthread_rwlock_unlock(&rw), 0);
    CHECK_EQ(pthread_once(&once, run_once), 0);
    CHECK_EQ(once_runs, 1);
    CHECK(pthread_getspecific(key) == NULL);
    CHECK_EQ(pthread_setspecific(key, &key), 0);
    for (int i = 0; i < 2000; i++) {
        CHECK_EQ(pthread_spin_lock(&spin), 0);
        counter++;
        CHECK_EQ(pthread_spin_unlock(&spin), 0);
    }
    return NULL;
}

static void *
writer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        CHECK_EQ(pthread_rwlock_wrlock(&rw), 0);
        int v = counter;
        sched_yield();
        counter = v + 1;
        CHECK_EQ(pthread_rwlock_unlock(&rw), 0);
    }
    return NULL;
}

static void *
taker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        OK(sem_wait(&sem));
        OK(sem_post(&posted));
    }
    return NULL;
}

int
main(void)
{
    pthread_t t[THREADS];
    int value;

    CHECK_EQ(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    CHECK_EQ(pthread_key_create(&key, destroy), 0);
    CHECK_EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
    for (int i = 0; i < THREADS; i++)
        t[i] = thread_start(reader, NULL);
    for (int i = 0; i < THREADS; i++)
        thread_join(t[i]);
    CHECK_EQ(serial, 1);
    CHECK_EQ(destroyed, THREADS);
    CHECK_EQ(counter, THREADS * 2000);

    counter = 0;
    for (int i = 0; i < 3; i++)
        t[i] = thread_start(writer, NULL);
    for (int i = 0; i < 3; i++)
        thread_join(t[i]);
    CHECK_EQ(counter, 3000);

    OK(sem_init(&sem, 0, 0));
    OK(sem_init(&posted, 0, 0));
    CHECK_ERR(sem_trywait(&sem), EAGAIN);
    struct timespec until = thread_deadline(10);
    CHECK_ERR(sem_timedwait(&sem, &until), ETIMEDOUT);
    t[0] = thread_start(taker, NULL);
    for (int i = 0; i < 1000; i++) {
        OK(sem_post(&sem));
        OK(sem_wait(&posted));
    }
    thread_join(t[0]);
    OK(sem_getvalue(&sem, &value));
    CHECK_EQ(value, 0);
    return 0;
}
