/* Determines how a jail ended.
 *
 * The exit status alone does not say it: a process killed for memory and one
 * killed by its user both died of SIGKILL. The counters of the host's kernel
 * decide first, then the watchdog's own knowledge, and only then the signal. */
#include "supervisor/jail/ending.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Signals that a fault raises, and the signal of the CPU limit. All others
 * count as killed from outside. */
static const struct {
    int signal;
    const char *cause;
} causes[] = {
    {SIGSEGV, "crashed"}, {SIGBUS, "crashed"},  {SIGILL, "crashed"},
    {SIGFPE, "crashed"},  {SIGABRT, "crashed"}, {SIGTRAP, "crashed"},
    {SIGSYS, "crashed"},  {SIGXCPU, "cpu"},
};

const char *
ending_cause(const struct ending *e)
{
    if (e->counters.oom_kills || e->over_memory)
        return "oom";
    if (e->start_error)
        return "failed";
    if (WIFEXITED(e->status))
        return "exited";
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (causes[i].signal == WTERMSIG(e->status))
            return causes[i].cause;
    return "killed";
}

int
ending_exit_status(const struct ending *e)
{
    return WIFEXITED(e->status) ? WEXITSTATUS(e->status)
                                : 128 + WTERMSIG(e->status);
}

/* Returns the kernel's sum for the group. Without a group, it is the sum of the
 * processes that were reaped, which lacks those that were killed with the
 * jail. */
static double
ending_cpu_seconds(const struct ending *e)
{
    struct timeval a = e->usage.ru_utime, b = e->usage.ru_stime;

    if (e->counters.cpu_us)
        return (double)e->counters.cpu_us / 1e6;
    return (double)(a.tv_sec + b.tv_sec) +
           (double)(a.tv_usec + b.tv_usec) / 1e6;
}

/* Rounds up, so that a use above 0 never shows as 0. */
static unsigned long long
ending_mb_up(uint64_t bytes)
{
    return (bytes + (1 << 20) - 1) >> 20;
}

static void
ending_print_figures(const struct ending *e, const uint32_t *limit, FILE *to)
{
    const struct cgroup_counters *c = &e->counters;

    fprintf(to, "; disk %llu of %u MB; cpu %.2f s", ending_mb_up(e->disk_used),
            limit[LIMIT_disk], ending_cpu_seconds(e));
    if (c->has[CTL_cpu])
        fprintf(to, ", throttled %llu of %llu periods",
                (unsigned long long)c->throttled,
                (unsigned long long)c->periods);
    if (c->has[CTL_memory])
        fprintf(to, "; memory and files at most %llu MB, oom kills %llu",
                ending_mb_up(c->memory_peak), (unsigned long long)c->oom_kills);
    if (c->has[CTL_pids])
        fprintf(to, "; processes refused %llu", (unsigned long long)c->refused);
}

void
ending_print(const struct ending *e, const uint32_t *limit, FILE *to)
{
    fprintf(to, "wasm-sandbox: limit: %s: ", ending_cause(e));
    if (WIFEXITED(e->status))
        fprintf(to, "status %d", WEXITSTATUS(e->status));
    else
        fprintf(to, "signal %d (%s)", WTERMSIG(e->status),
                strsignal(WTERMSIG(e->status)));
    if (e->counters.oom_kills || e->over_memory)
        fprintf(to, ", out of memory: the limit is %u MB%s",
                limit[LIMIT_memory],
                e->over_memory ? " (found by the watchdog)" : "");
    ending_print_figures(e, limit, to);
    fputc('\n', to);
}
