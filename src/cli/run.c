/* Runs a program as a request asks for it: creates a runtime and a sandbox,
 * forwards signals, and turns the result into an exit status. */
#include "cli/cli.h"
#include "cli/request.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Signal handlers have no argument: the sandbox that runs now, or NULL. They
 * run in the main thread, the others block all signals. */
static struct wsand_sandbox *volatile current;

/* Both functions of the library are safe in a signal handler: they set a flag
 * and wake the sandbox. */
static void
run_on_signal(int sig)
{
    struct wsand_sandbox *sb = current;

    if (sb && sig == SIGWINCH)
        wsand_window_changed(sb);
    else if (sb)
        wsand_signal(sb, sig);
}

/* A signal that is ignored, as SIGHUP is under nohup, stays so: programs
 * inherit that. */
static void
run_forward_signals(struct wsand_sandbox *sb)
{
    static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                  SIGUSR1, SIGUSR2, SIGWINCH};
    struct sigaction act = {.sa_handler = run_on_signal,
                            .sa_flags = SA_RESTART};
    struct sigaction old;

    current = sb;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &act, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

/* Returns the exit status of a result, after a line on standard error if it
 * needs an explanation. */
static int
run_status_of(const struct exec_request *q, const char *name,
              const struct wsand_result *res)
{
    if (res->timed_out) {
        complain("%s: timed out after %llu ms", name,
                 (unsigned long long)q->exec.timeout_ms);
        return EXIT_TIMEOUT;
    }
    if (res->reason[0])
        complain("%s: %s", name, res->reason);
    return res->signal ? 128 + res->signal : res->exit_code;
}

/* Reports an error and returns the exit status. The library knows the program
 * by its path in the sandbox, and the user by `name`, which replaces it.
 * Statuses are those of a shell: 127 for a missing program, 126 for one that
 * cannot run. */
static int
run_explain(const struct exec_request *q, const char *name,
            const struct wsand_error *err)
{
    const char *text = wsand_error_text(err);
    size_t len = strlen(q->exec.path);

    if (!strncmp(text, q->exec.path, len) && text[len] == ':')
        complain("%s%s", name, text + len);
    else
        complain("%s", text);
    if (!err->is_program)
        return EXIT_USAGE;
    return err->errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Adds PWD for programs that do not ask the system. The result must be freed
 * after the run. */
static char *
run_set_pwd(struct exec_request *q)
{
    char *pwd = NULL;

    if (q->has_no_pwd)
        return NULL;
    for (size_t i = 0; i < q->n_env; i++)
        if (strncmp(q->env[i], "PWD=", 4) == 0)
            return NULL;
    if (asprintf(&pwd, "PWD=%s", q->exec.cwd ? q->exec.cwd : "/") < 0)
        return NULL;
    q->env[q->n_env++] = pwd;
    return pwd;
}

/* Address space is reserved for twice the processes, because a process that has
 * ended may still have its memory when the next one starts. A larger pool would
 * only make the start longer. */
int
request_run(struct exec_request *q, const char *name)
{
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .root_image = q->root,
                                       .shipped_dir = beside_find_code(),
                                       .compiler = "/proc/self/exe",
                                       .broker = beside_find_broker(),
                                       .resolvers = q->resolvers,
                                       .max_processes =
                                           2 * (uint32_t)q->sandbox.processes};
    struct wsand_runtime *rt = NULL;
    struct wsand_sandbox *sb = NULL;
    struct wsand_result res = {.size = sizeof res};
    struct wsand_error err = {0};

    if (!beside_find_images(q->images, &ro.images, &ro.n_images))
        return EXIT_USAGE;
    char *pwd = run_set_pwd(q);
    int r = wsand_runtime_new(&ro, &rt, &err);
    if (r == 0)
        r = wsand_sandbox_new(rt, &q->sandbox, &sb, &err);
    if (r == 0) {
        run_forward_signals(sb);
        r = wsand_exec(sb, &q->exec, &res, &err);
    }
    int status =
        r == 0 ? run_status_of(q, name, &res) : run_explain(q, name, &err);
    current = NULL;
    wsand_sandbox_free(sb);
    wsand_runtime_free(rt);
    free(pwd);
    return status;
}
