/* Processes: how fast one comes and goes, how soon one can be ended, and that
 * 100,000 ends leave nothing behind. */
#include "host.h"

#include "host/hostfile.h"
#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { STARTS = 20000, ENDS = 40 };

struct waiting {
    struct kernel *kernel;
    int pid;
};

static bool
has_ended(void *arg)
{
    const struct waiting *w = arg;
    const struct task *t = task_find(w->kernel, w->pid);

    return t->is_zombie && !t->thread;
}

static bool
is_waiting(void *arg)
{
    const struct waiting *w = arg;

    return task_find(w->kernel, w->pid)->thread->is_waiting;
}

/* `null` is the three standard files. */
static int
spawn(struct kernel *k, const char *what, struct file *null)
{
    const char *argv[] = {"program", what, NULL}, *envp[] = {NULL};
    char why[160];
    struct spawn s = {
        .path = "/bin/program", .argv = argv, .envp = envp, .cwd = "/"};

    for (int i = 0; i < 3; i++)
        s.stdio[i] = file_get(null);
    int pid = kernel_spawn(k, &s, why, sizeof why);
    NEED(pid > 0);
    return pid;
}

static struct file *
open_null(struct kernel *k)
{
    int hfd = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct file *f;

    NEED(hfd >= 0 && hostfile_new(k, hfd, O_RDWR, &f) == 0);
    close(hfd);
    return f;
}

static void
start_once(struct kernel *k, struct file *null)
{
    struct waiting w = {k, spawn(k, "exit", null)};
    int status;

    NEED(kernel_run(k, has_ended, &w, NS_NEVER) == 0);
    NEED(kernel_reap(k, w.pid, &status) == 0 && status == 0);
}

int
start(int argc, char **argv)
{
    static double took[STARTS];
    const char *args[] = {"program", "exit", NULL};
    struct host h;

    if (argc < 2)
        return 2;
    host_init(&h, argv[1], false);
    struct kernel *k = h.sandbox->kernel;
    struct file *null = open_null(k);
    for (int i = 0; i < STARTS; i++) {
        int64_t begin = now_ns();
        start_once(k, null);
        took[i] = (double)(now_ns() - begin) / 1000;
    }
    file_put(null);
    double middle = median(took, STARTS);
    report("start+exit+reap", took[0], "us");
    report("start+exit+reap, median", middle, "us");
    for (int i = 0; i < STARTS / 10; i++) {
        int64_t begin = now_ns();
        NEED(host_run(&h, args, 0) == 0);
        took[i] = (double)(now_ns() - begin) / 1000;
    }
    (void)median(took, STARTS / 10);
    report("wsand_exec", took[0], "us");
    host_fini(&h);
    return 0;
}

/* --- ends from outside */

struct killer {
    struct wsand_sandbox *sandbox;
    _Atomic int64_t at_ns;
};

/* Ends the program after it has surely begun to spin. */
static void *
kill_later(void *arg)
{
    const struct timespec later = {.tv_nsec = 5000000};
    struct killer *kl = arg;

    nanosleep(&later, NULL);
    kl->at_ns = now_ns();
    wsand_signal(kl->sandbox, SIGKILL);
    return NULL;
}

/* From the signal to the return of wsand_exec, in ms. */
static double
end_by_signal(struct host *h)
{
    const char *args[] = {"program", "spin", NULL};
    struct killer kl = {.sandbox = h->sandbox};
    pthread_t thread;

    NEED(pthread_create(&thread, NULL, kill_later, &kl) == 0);
    NEED(host_run(h, args, 0) == 128 + SIGKILL);
    double took = (double)(now_ns() - kl.at_ns) / 1e6;
    pthread_join(thread, NULL);
    return took;
}

/* From the time limit to the return. */
static double
end_by_time(struct host *h)
{
    const char *args[] = {"program", "spin", NULL};
    const uint64_t timeout_ms = 5;
    int64_t begin = now_ns();

    NEED(host_run(h, args, timeout_ms) == 128 + SIGKILL);
    return (double)(now_ns() - begin) / 1e6 - (double)timeout_ms;
}

int
interrupt(int argc, char **argv)
{
    double by_signal[ENDS], by_time[ENDS];
    struct host h;

    if (argc < 2)
        return 2;
    host_init(&h, argv[1], false);
    for (int i = 0; i < ENDS; i++) {
        by_signal[i] = end_by_signal(&h);
        by_time[i] = end_by_time(&h);
    }
    report("signal to a loop", median(by_signal, ENDS), "ms");
    report("time limit of a loop", median(by_time, ENDS), "ms");
    host_fini(&h);
    return 0;
}

/* --- many ends */

static double
rss_kib(void)
{
    long pages = 0, unused;
    FILE *f = fopen("/proc/self/statm", "re");

    NEED(f && fscanf(f, "%ld %ld", &unused, &pages) == 2);
    fclose(f);
    return (double)pages * 4;
}

static void
kill_once(struct kernel *k, struct file *null)
{
    struct waiting w = {k, spawn(k, "pause", null)};
    int status;

    NEED(kernel_run(k, is_waiting, &w, NS_NEVER) == 0);
    kernel_kill(k, 0, SIGKILL);
    NEED(kernel_run(k, has_ended, &w, NS_NEVER) == 0);
    NEED(kernel_reap(k, w.pid, &status) == 0 && status == SIGKILL);
}

int
kills(int argc, char **argv)
{
    struct host h;
    double before = 0;

    if (argc < 3)
        return 2;
    host_init(&h, argv[1], false);
    struct file *null = open_null(h.sandbox->kernel);
    int n = atoi(argv[2]);
    for (int i = 0; i < n; i++) {
        if (i == n / 100)
            before = rss_kib();
        kill_once(h.sandbox->kernel, null);
    }
    report("RSS after kills", rss_kib() - before, "KiB more");
    report("RSS", before, "KiB");
    file_put(null);
    host_fini(&h);
    return 0;
}
