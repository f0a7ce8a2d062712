/* Mutex, once, keys, rwlock and self in a process with one thread. */
#include "proc.h"

#include <pthread.h>

static int runs, freed;

static void
once(void)
{
    runs++;
}

static void
release(void *p)
{
    freed += p != NULL;
}

int
main(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, rec;
    pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
    pthread_once_t o = PTHREAD_ONCE_INIT;
    pthread_mutexattr_t at;
    pthread_key_t key;

    CHECK_EQ(pthread_mutex_lock(&m), 0);
    CHECK_EQ(pthread_mutex_trylock(&m), EBUSY);
    CHECK_EQ(pthread_mutex_unlock(&m), 0);
    CHECK_EQ(pthread_mutex_trylock(&m), 0);
    CHECK_EQ(pthread_mutexattr_init(&at), 0);
    CHECK_EQ(pthread_mutexattr_settype(&at, PTHREAD_MUTEX_RECURSIVE), 0);
    CHECK_EQ(pthread_mutex_init(&rec, &at), 0);
    CHECK_EQ(pthread_mutex_lock(&rec), 0);
    CHECK_EQ(pthread_mutex_lock(&rec), 0);
    CHECK_EQ(pthread_mutex_unlock(&rec), 0);
    CHECK_EQ(pthread_mutex_unlock(&rec), 0);
    CHECK_EQ(pthread_mutex_unlock(&rec), EPERM);
    CHECK_EQ(pthread_once(&o, once), 0);
    CHECK_EQ(pthread_once(&o, once), 0);
    CHECK_EQ(runs, 1);
    CHECK_EQ(pthread_key_create(&key, release), 0);
    CHECK(pthread_getspecific(key) == NULL);
    CHECK_EQ(pthread_setspecific(key, &runs), 0);
    CHECK(pthread_getspecific(key) == &runs);
    CHECK_EQ(pthread_key_delete(key), 0);
    CHECK_EQ(pthread_rwlock_rdlock(&rw), 0);
    CHECK_EQ(pthread_rwlock_trywrlock(&rw), EBUSY);
    CHECK_EQ(pthread_rwlock_unlock(&rw), 0);
    CHECK(pthread_equal(pthread_self(), pthread_self()));
    CHECK_EQ(pthread_kill(pthread_self(), 0), 0);
    return freed;
}
