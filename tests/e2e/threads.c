/* post: fork */
/* Attacks with threads, and programs whose end shows something about them. */
#include "attack.h"

#include <pthread.h>
#include <sched.h>

enum { PROCESSES = 100, THREADS = 9, CHAOS = 90, CHANGES = 300 };

static void *
wait_for_ever(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static pthread_t
start(void *(*run)(void *), void *arg)
{
    pthread_t t;

    CHECK(pthread_create(&t, NULL, run, arg) == 0);
    return t;
}

/* --- limits */

static void
thread_bomb(void)
{
    pthread_t t;
    int r;

    while ((r = pthread_create(&t, NULL, wait_for_ever, NULL)) == 0)
        ;
    CHECK(r == EAGAIN);
    reached();
    pause();
}

/* Exits at the limit, so that the run reports it. */
static void
threads_until_refused(void)
{
    pthread_t t;
    int r;

    while ((r = pthread_create(&t, NULL, wait_for_ever, NULL)) == 0)
        ;
    exit(r == EAGAIN ? 3 : 1);
}

static void
thread_bombs(void)
{
    for (int i = 0; i < 4; i++)
        if (fork() == 0)
            thread_bomb();
    thread_bomb();
}

static void *
allocate(void *arg)
{
    void *volatile p; /* the allocation must not be optimised away */

    do {
        p = malloc(1 << 20);
    } while (p);
    return arg;
}

static void
memory_in_threads(void)
{
    pthread_t t[THREADS];

    for (int i = 0; i < THREADS; i++)
        t[i] = start(allocate, NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
}

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both;

static void *
lock_both(void *arg)
{
    int first = arg != NULL;

    CHECK(pthread_mutex_lock(&locks[first]) == 0);
    (void)pthread_barrier_wait(&both);
    reached();
    CHECK(pthread_mutex_lock(&locks[!first]) == 0);
    return NULL;
}

static void
deadlock(void)
{
    CHECK(pthread_barrier_init(&both, NULL, 2) == 0);
    pthread_t t = start(lock_both, NULL);

    lock_both(&both);
    CHECK(pthread_join(t, NULL) == 0);
}

static void *
spin_for_ever(void *arg)
{
    for (volatile int i = 0;; i++)
        ;
    return arg;
}

static void
spinning_threads(void)
{
    for (int i = 0; i < THREADS; i++)
        (void)start(spin_for_ever, NULL);
    reached();
    spin_for_ever(NULL);
}

static int
recurse(volatile char *above)
{
    volatile char frame[100];

    frame[0] = above[0];
    return recurse(frame) + frame[0];
}

static void *
overflow(void *arg)
{
    recurse((volatile char *)&arg);
    return NULL;
}

static void
thread_overflow(void)
{
    CHECK(pthread_join(start(overflow, NULL), NULL) == 0);
}

/* --- many at once */

static void
member(int ready, int go)
{
    char c;

    for (int i = 0; i < THREADS; i++)
        (void)start(wait_for_ever, NULL);
    CHECK(write(ready, "r", 1) == 1);
    (void)read(go, &c, 1); /* until the parent has ended */
    _exit(0);
}

/* All threads of all processes exist at the same time. */
static void
thousand_threads(void)
{
    int ready[2], go[2], status;
    char c;

    CHECK(pipe(ready) == 0 && pipe(go) == 0);
    for (int i = 0; i < PROCESSES; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (!pid) {
            close(go[1]);
            member(ready[1], go[0]);
        }
    }
    for (int i = 0; i < PROCESSES; i++)
        CHECK(read(ready[0], &c, 1) == 1);
    close(go[1]);
    for (int i = 0; i < PROCESSES; i++) {
        CHECK(wait(&status) > 0);
        CHECK(status == 0);
    }
}

/* --- at any instant */

static void *
busy(void *arg)
{
    for (;;) {
        void *p = malloc((size_t)(rand() % 10000));
        char c = 0;

        free(p);
        (void)write(*(int *)arg, &c, 1);
        if (rand() % 4 == 0)
            sched_yield();
    }
    return NULL;
}

static void *
forks(void *arg)
{
    for (;;) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        if (pid > 0)
            (void)waitpid(pid, NULL, 0);
    }
    return arg;
}

static void *
execs(void *arg)
{
    char *const argv[] = {"threads", "exit", NULL};

    for (int i = 0; i < *(int *)arg; i++)
        sched_yield();
    execve(SELF, argv, environ);
    return NULL;
}

static void
chaos_child(int round)
{
    static int null, yields;

    srand((unsigned)round);
    null = open("/dev/null", O_WRONLY);
    yields = rand() % 8;
    (void)start(busy, &null);
    (void)start(busy, &null);
    (void)start(forks, NULL);
    if (round % 3 == 0)
        (void)start(execs, &yields);
    for (int i = rand() % 8; round % 3 == 1 && i > 0; i--)
        sched_yield();
    if (round % 3 == 1)
        _exit(7);
    wait_for_ever(NULL);
}

/* Processes with busy threads are killed, exit or exec at random moments. */
static void
chaos(void)
{
    for (int i = 0; i < CHAOS; i++) {
        int status;
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (!pid)
            chaos_child(i);
        for (int n = rand() % 8; i % 3 == 2 && n > 0; n--)
            sched_yield();
        if (i % 3 == 2)
            CHECK(kill(pid, SIGKILL) == 0);
        CHECK(waitpid(pid, &status, 0) == pid);
        if (i % 3 == 2)
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        else
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
}

/* --- order */

static volatile int last, changes;
static char order[CHANGES + 4]; /* a change may be under way in each thread */

static void *
note_changes(void *arg)
{
    int id = (int)(intptr_t)arg;

    while (changes < CHANGES)
        if (last != id) {
            last = id;
            order[changes++] = (char)('a' + id);
        }
    return NULL;
}

/* Threads spin for one another; prints who ran when. */
static void
spin_order(void)
{
    pthread_t t[3];

    for (int i = 0; i < 3; i++)
        t[i] = start(note_changes, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
    puts(order);
}

static void *
spin(void *arg)
{
    volatile int *is_over = arg;

    while (!*is_over)
        ;
    return NULL;
}

/* Threads cannot run while another one forks, however often that happens. */
static void
forks_beside_spinning_threads(void)
{
    static volatile int is_over;
    pthread_t t[3];

    for (int i = 0; i < 3; i++)
        t[i] = start(spin, (void *)&is_over);
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (!pid)
            _exit(0);
        CHECK(waitpid(pid, NULL, 0) == pid);
    }
    is_over = 1;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
}

static void *
sleep_and_set(void *arg)
{
    usleep(5000);
    *(volatile int *)arg = 1;
    return NULL;
}

static void *
wait_and_set(void *arg)
{
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (!pid) {
        usleep(5000);
        _exit(0);
    }
    CHECK(waitpid(pid, NULL, 0) == pid);
    *(volatile int *)arg = 1;
    return NULL;
}

/* A loop of a thread ends when another one has slept, or waited for a process
 * that sleeps. Prints how long the loop was. */
static void
spins_for_sleepers(void)
{
    void *(*const run[])(void *) = {sleep_and_set, wait_and_set};

    for (int i = 0; i < 2; i++) {
        volatile int is_set = 0;
        unsigned long n = 0;
        pthread_t t = start(run[i], (void *)&is_set);

        while (!is_set)
            n++;
        CHECK(pthread_join(t, NULL) == 0);
        printf("%lu\n", n);
    }
}

static void
four_threads(void)
{
    for (int i = 0; i < 3; i++)
        (void)start(wait_for_ever, NULL);
    wait_for_ever(NULL);
}

static void *
say(void *arg)
{
    (void)write(1, arg, 1);
    return NULL;
}

static void
two_writers(void)
{
    CHECK(pthread_join(start(say, "b"), NULL) == 0);
    say("a");
}

#define ATTACK(name) \
    {                \
#name, name  \
    }
static const struct attack attacks[] = {
    ATTACK(thread_bomb),
    ATTACK(threads_until_refused),
    ATTACK(thread_bombs),
    ATTACK(memory_in_threads),
    ATTACK(deadlock),
    ATTACK(spinning_threads),
    ATTACK(thread_overflow),
    ATTACK(thousand_threads),
    ATTACK(chaos),
    ATTACK(spin_order),
    ATTACK(forks_beside_spinning_threads),
    ATTACK(spins_for_sleepers),
    ATTACK(two_writers),
    ATTACK(four_threads),
    {NULL, NULL},
};
