/* Starting programs. They are this one again, by what is asked of it:
 *
 *   exit    nothing
 *   pause   sleep for ever
 *   spin    use the processor for ever
 *   beside  start one beside three that spin
 *
 * and without an argument, start one. */
#include "bench.h"

#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STARTS = 20, SPINNERS = 3, BESIDE_STARTS = 100 };

static pid_t
start(const char *what)
{
    char *self = (char *)getauxval(AT_EXECFN);
    char *argv[] = {self, (char *)what, NULL}, *envp[] = {NULL};
    pid_t pid = vfork();

    if (pid == 0) {
        execve(self, argv, envp);
        _exit(127);
    }
    NEED(pid > 0);
    return pid;
}

static void
start_and_wait(void)
{
    pid_t pid = start("exit");
    int status;

    NEED(waitpid(pid, &status, 0) == pid && status == 0);
}

static void
start_often(void)
{
    for (int i = 0; i < STARTS; i++)
        start_and_wait();
}

/* The mean: a wait for the neighbours' turns is a part of it. */
static void
start_beside(void)
{
    pid_t pids[SPINNERS];
    int status;

    for (int i = 0; i < SPINNERS; i++)
        pids[i] = start("spin");
    start_often();
    int64_t begin = now_ns();
    for (int i = 0; i < BESIDE_STARTS; i++)
        start_and_wait();
    double ns = (double)(now_ns() - begin) / BESIDE_STARTS;
    report("beside spinners", ns / 1e6, "ms");
    for (int i = 0; i < SPINNERS; i++) {
        NEED(kill(pids[i], SIGKILL) == 0);
        NEED(waitpid(pids[i], &status, 0) == pids[i]);
    }
}

static void
spin(void)
{
    for (;;)
        ;
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (!strcmp(what, "exit"))
        return 0;
    if (!strcmp(what, "spin"))
        spin();
    if (!strcmp(what, "pause"))
        for (;;)
            pause();
    if (!strcmp(what, "beside"))
        start_beside();
    else
        report("vfork+exec+wait", best_ns(start_often, STARTS) / 1000, "us");
    return 0;
}
