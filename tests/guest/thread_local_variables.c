/* _Thread_local variables: each thread has its own, which begin with their
 * initial values and keep their address. */
/* post: fork */
#include "thread.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

enum { THREADS = 8, ROUNDS = 2000 };

static _Thread_local int counter = 42;
static __thread char zeros[5000];
static _Thread_local char text[16] = "initial";
static _Thread_local alignas(64) char aligned[64];
static atomic_int turns;
static int *addresses[THREADS];

static int *
local_static(void)
{
    static _Thread_local int calls = 7;

    calls++;
    return &calls;
}

static void
check_fresh(void)
{
    CHECK_EQ(counter, 42);
    CHECK(!strcmp(text, "initial"));
    for (size_t i = 0; i < sizeof zeros; i++)
        CHECK_EQ(zeros[i], 0);
    CHECK_EQ((uintptr_t)aligned % 64, 0);
    CHECK_EQ(*local_static(), 8);
}

/* Other threads run between any two rounds. */
static void *
count(void *arg)
{
    int id = (int)(intptr_t)arg, *mine = &counter;

    check_fresh();
    addresses[id] = mine;
    counter = id * ROUNDS;
    memset(zeros, id + 1, sizeof zeros);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(counter, id * ROUNDS + i);
        counter++;
        atomic_fetch_add(&turns, 1);
        if (i % 16 == 0)
            sched_yield();
    }
    CHECK(mine == &counter);
    CHECK_EQ(zeros[sizeof zeros - 1], id + 1);
    return NULL;
}

static void
many_threads(void)
{
    pthread_t t[THREADS];

    for (int i = 0; i < THREADS; i++)
        t[i] = thread_start(count, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        thread_join(t[i]);
    CHECK_EQ(turns, THREADS * ROUNDS);
    CHECK_EQ(counter, 1);
}

/* Two threads that live at the same time: one sees the variable of the other
 * through a pointer. */
static int *shared;
static sem_t is_set, is_read;

static void *
lend(void *arg)
{
    (void)arg;
    counter = 100;
    shared = &counter;
    OK(sem_post(&is_set));
    OK(sem_wait(&is_read));
    CHECK_EQ(counter, 101);
    return NULL;
}

static void
through_a_pointer(void)
{
    OK(sem_init(&is_set, 0, 0));
    OK(sem_init(&is_read, 0, 0));
    pthread_t t = thread_start(lend, NULL);
    OK(sem_wait(&is_set));
    CHECK(shared != &counter);
    CHECK_EQ((*shared)++, 100);
    CHECK_EQ(counter, 1);
    OK(sem_post(&is_read));
    thread_join(t);
}

/* The child of fork is a copy of the thread that called it. */
static void *
fork_in_thread(void *arg)
{
    int status;

    (void)arg;
    counter = 5;
    pid_t pid = fork();
    if (pid == 0)
        _exit(counter == 5 && *local_static() == 8 ? 3 : 4);
    CHECK_EQ(counter, 5);
    OK(waitpid(pid, &status, 0));
    CHECK_EQ(WEXITSTATUS(status), 3);
    return NULL;
}

int
main(void)
{
    check_fresh();
    counter = 1;
    many_threads();
    through_a_pointer();
    thread_join(thread_start(fork_in_thread, NULL));
    CHECK_EQ(counter, 1);
    return 0;
}
