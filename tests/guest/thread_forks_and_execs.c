/* post: fork */
/* fork in a thread copies that thread only; exec in a thread ends the others
 * and keeps the pid; pthread_atfork handlers run. */
#include "thread.h"

static volatile int spins, stop;
static int before, in_parent, in_child;

static void
prepare(void)
{
    before++;
}

static void
parent(void)
{
    in_parent++;
}

static void
child(void)
{
    in_child++;
}

static void *
spin(void *arg)
{
    while (!stop)
        spins++;
    return arg;
}

static int
count_threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;

    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void *
forker(void *arg)
{
    int local = (int)(long)arg;

    for (int i = 0; i < 10; i++) {
        pid_t pid = OK(fork());
        if (!pid) {
            if (count_threads() != 1 || thread_id() != getpid() ||
                local != (int)(long)arg)
                _exit(99);
            void *p = malloc(100000); /* no lock is held by the others */
            free(p);
            _exit(local + i);
        }
        CHECK_EQ(wait_exit(pid), local + i);
    }
    return NULL;
}

static void *
exec_self(void *arg)
{
    char *argv[] = {(char *)"child", (char *)arg, NULL};

    thread_await(&spins);
    execv("/proc/self/exe", argv);
    exit(98);
}

static void *
blocks(void *arg)
{
    sigset_t all;

    sigfillset(&all);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &all, NULL), 0);
    return exec_self(arg);
}

int
main(int argc, char **argv)
{
    sigset_t set;
    pthread_t t[3];
    char pid[16];

    if (argc > 1 && !strcmp(argv[1], "exec")) {
        snprintf(pid, sizeof pid, "%d", (int)getpid());
        thread_start(spin, NULL);
        thread_start(spin, NULL);
        thread_join(thread_start(blocks, pid));
        return 97;
    }
    if (argc > 1) { /* after the exec in a thread, with the mask of that */
        OK(sigprocmask(SIG_BLOCK, NULL, &set));
        CHECK(sigismember(&set, SIGUSR1));
        CHECK_EQ(getpid(), atoi(argv[1]));
        CHECK_EQ(thread_id(), getpid());
        CHECK_EQ(count_threads(), 1);
        return 42;
    }
    CHECK_EQ(pthread_atfork(prepare, parent, child), 0);
    t[0] = thread_start(spin, NULL);
    t[1] = thread_start(forker, (void *)10);
    t[2] = thread_start(forker, (void *)50);
    thread_join(t[1]);
    thread_join(t[2]);
    CHECK_EQ(count_threads(), 2);
    stop = 1;
    thread_join(t[0]);
    CHECK_EQ(before, 20);
    CHECK_EQ(in_parent, 20);
    CHECK_EQ(in_child, 0);
    CHECK_EQ(wait_exit(spawn_self("exec")), 42);
    return 0;
}
