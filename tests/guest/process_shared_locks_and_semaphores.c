/* Locks, conditions, semaphores and barriers in shared memory work between
 * processes; a robust lock reports that its owner has died. */
/* post: fork */
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

enum { CHILDREN = 4, ROUNDS = 200 };

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    pthread_barrier_t barrier;
    sem_t ping, pong;
    int count, turn;
};

static struct shared *
make(int robust)
{
    struct shared *s = OK(mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pthread_mutexattr_t ma;
    pthread_condattr_t ca;
    pthread_barrierattr_t ba;

    CHECK_EQ(pthread_mutexattr_init(&ma), 0);
    CHECK_EQ(pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED), 0);
    if (robust)
        CHECK_EQ(pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST), 0);
    CHECK_EQ(pthread_mutex_init(&s->lock, &ma), 0);
    CHECK_EQ(pthread_condattr_init(&ca), 0);
    CHECK_EQ(pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED), 0);
    CHECK_EQ(pthread_cond_init(&s->cond, &ca), 0);
    CHECK_EQ(pthread_barrierattr_init(&ba), 0);
    CHECK_EQ(pthread_barrierattr_setpshared(&ba, PTHREAD_PROCESS_SHARED), 0);
    CHECK_EQ(pthread_barrier_init(&s->barrier, &ba, CHILDREN + 1), 0);
    OK(sem_init(&s->ping, 1, 0));
    OK(sem_init(&s->pong, 1, 0));
    return s;
}

static void
count(struct shared *s)
{
    pid_t pids[CHILDREN];

    for (int i = 0; i < CHILDREN; i++) {
        pids[i] = OK(fork());
        if (pids[i])
            continue;
        int r = pthread_barrier_wait(&s->barrier);
        CHECK(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
        for (int j = 0; j < ROUNDS; j++) {
            CHECK_EQ(pthread_mutex_lock(&s->lock), 0);
            int old = s->count;
            if (j % 50 == 0)
                usleep(1);
            s->count = old + 1;
            CHECK_EQ(pthread_mutex_unlock(&s->lock), 0);
        }
        _exit(0);
    }
    CHECK_EQ(s->count, 0);
    int r = pthread_barrier_wait(&s->barrier);
    CHECK(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
    for (int i = 0; i < CHILDREN; i++)
        CHECK_EQ(wait_exit(pids[i]), 0);
    CHECK_EQ(s->count, CHILDREN * ROUNDS);
}

static void
take_turns(struct shared *s)
{
    pid_t pid = OK(fork());
    int mine = pid ? 0 : 1;

    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(pthread_mutex_lock(&s->lock), 0);
        while (s->turn != mine)
            CHECK_EQ(pthread_cond_wait(&s->cond, &s->lock), 0);
        s->turn = !mine;
        CHECK_EQ(pthread_cond_broadcast(&s->cond), 0);
        CHECK_EQ(pthread_mutex_unlock(&s->lock), 0);
    }
    if (!pid)
        _exit(0);
    CHECK_EQ(wait_exit(pid), 0);
}

static void
ping_pong(struct shared *s)
{
    pid_t pid = OK(fork());

    for (int i = 0; i < ROUNDS; i++) {
        if (pid) {
            OK(sem_post(&s->ping));
            OK(sem_wait(&s->pong));
        } else {
            OK(sem_wait(&s->ping));
            OK(sem_post(&s->pong));
        }
    }
    if (!pid)
        _exit(0);
    CHECK_EQ(wait_exit(pid), 0);
}

static void
owner_dies(void)
{
    struct shared *s = make(1);
    pid_t pid = OK(fork());

    if (!pid) {
        CHECK_EQ(pthread_mutex_lock(&s->lock), 0);
        OK(sem_post(&s->ping));
        _exit(0);
    }
    OK(sem_wait(&s->ping));
    CHECK_EQ(pthread_mutex_lock(&s->lock), EOWNERDEAD);
    CHECK_EQ(pthread_mutex_consistent(&s->lock), 0);
    CHECK_EQ(pthread_mutex_unlock(&s->lock), 0);
    CHECK_EQ(wait_exit(pid), 0);
}

int
main(void)
{
    struct shared *s = make(0);

    count(s);
    take_turns(s);
    ping_pong(s);
    owner_dies();
    return 0;
}
