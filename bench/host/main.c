/* Measures the sandbox from outside:
 *
 *   run [-u] PROGRAM ARG...   run it; -u: without epoch checks
 *   start PROGRAM             start, exit and reap of `PROGRAM exit`
 *   interrupt PROGRAM         the end of `PROGRAM spin`
 *   kills PROGRAM N           memory after N ends of `PROGRAM pause`
 *   clone                     a file system with 10,000 files
 *   load PROGRAM              loading it, when it is in the cache
 *   command NAME ARG...       start and end of a command of the host
 *   exec NAME ARG...          the same in microseconds */
#include "host.h"

#include "engine/engine.h"

#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", run},     {"start", start},      {"interrupt", interrupt},
    {"kills", kills}, {"clone", clone_tree}, {"command", command},
    {"load", load},   {"exec", command},
};

void
host_init(struct host *h, const char *program, bool is_unpreemptive)
{
    const struct wsand_program p = {.host_path = program,
                                    .guest_path = "/bin/program"};
    const struct wsand_options o = {
        .size = sizeof o, .programs = &p, .n_programs = 1};
    const struct engine_options eo = {.max_machines = 64,
                                      .is_unpreemptive = is_unpreemptive};
    struct wsand_error err = {0};
    char why[160] = "";

    *h = (struct host){0};
    if (crews_init(&h->runtime.crews, 0) < 0 ||
        engine_new(&eo, &h->runtime.engine, why, sizeof why) < 0 ||
        wsand_sandbox_new(&h->runtime, &o, &h->sandbox, &err) < 0) {
        fprintf(stderr, "%s%s\n", why, err.message);
        exit(EXIT_FAILURE);
    }
}

void
host_fini(struct host *h)
{
    wsand_sandbox_free(h->sandbox);
    crews_fini(&h->runtime.crews);
    engine_free(h->runtime.engine);
}

int
host_run(struct host *h, const char *const *argv, uint64_t timeout_ms)
{
    const char *envp[] = {NULL};
    const struct wsand_exec x = {.size = sizeof x,
                                 .path = "/bin/program",
                                 .argv = argv,
                                 .envp = envp,
                                 .stdio = {0, 1, 2},
                                 .timeout_ms = timeout_ms};
    struct wsand_result res = {.size = sizeof res};
    struct wsand_error err = {0};

    if (wsand_exec(h->sandbox, &x, &res, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        exit(EXIT_FAILURE);
    }
    return res.signal ? 128 + res.signal : res.exit_code;
}

int
run(int argc, char **argv)
{
    bool is_unpreemptive = argc > 2 && !strcmp(argv[1], "-u");
    struct host h;

    if (is_unpreemptive)
        argv++;
    else if (argc < 2)
        return 2;
    host_init(&h, argv[1], is_unpreemptive);
    int status = host_run(&h, (const char *const *)argv + 1, 0);
    host_fini(&h);
    return status;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double
median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, compare);
    return v[n / 2];
}

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr,
            "usage: host run|start|interrupt|kills|clone|load|command|exec\n");
    return 2;
}
