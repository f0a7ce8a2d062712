/* wasm-sandbox exec: one program in a fresh sandbox. */
#include "cli/cli.h"

#include "wasmsand.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 64, NAME_MAX_BYTES = 255 };

struct request {
    struct wsand_options sandbox;
    struct wsand_exec exec;
    struct wsand_mount mounts[LIST_MAX];
    struct wsand_program program;
    const char *env[LIST_MAX + 8];
    size_t n_env;
    char guest_path[NAME_MAX_BYTES + 16];
};

static const char help[] =
    "usage: wasm-sandbox exec [OPTION]... PROGRAM.wasm [ARG]...\n"
    "Runs one program in a fresh sandbox, with standard input and output\n"
    "passed through; its exit status is ours (128+n for signal n).\n\n"
    "  --mount HOST:GUEST[:rw]  show a host folder, read-only unless :rw\n"
    "  --env K=V                set an environment variable\n"
    "  --cwd DIR                working folder in the sandbox [/]\n"
    "  --memory-limit MB        memory of all processes together\n"
    "  --timeout-ms N           end the program after N ms (status 124)\n"
    "  --fs-limit BYTES         bytes in files\n"
    "  --file-count N           number of files\n"
    "  --processes N            number of processes [64]\n"
    "  --seed N                 repeatable: fixed random numbers and clock\n"
    "  --strace                 print system calls on standard error\n"
    "  --help                   this text\n";

static const struct option options[] = {
    {"mount", required_argument, NULL, 'm'},
    {"env", required_argument, NULL, 'e'},
    {"cwd", required_argument, NULL, 'c'},
    {"memory-limit", required_argument, NULL, 'M'},
    {"timeout-ms", required_argument, NULL, 't'},
    {"fs-limit", required_argument, NULL, 'f'},
    {"file-count", required_argument, NULL, 'n'},
    {"processes", required_argument, NULL, 'p'},
    {"seed", required_argument, NULL, 'S'},
    {"strace", no_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* --- options */

static bool
parse_number(const char *name, const char *s, uint64_t scale, uint64_t *ret)
{
    char *end;

    errno = 0;
    unsigned long long n = strtoull(s, &end, 10);
    if (!*s || *s == '-' || *end || errno || n > UINT64_MAX / scale || !n) {
        complain("--%s: '%s' is not a positive number", name, s);
        return false;
    }
    *ret = n * scale;
    return true;
}

/* HOST:GUEST[:rw], cut in place. */
static bool
parse_mount(struct request *q, char *s)
{
    struct wsand_mount *m = &q->mounts[q->sandbox.n_mounts];
    char *guest = strchr(s, ':');
    char *mode = guest ? strchr(guest + 1, ':') : NULL;

    if (q->sandbox.n_mounts == LIST_MAX) {
        complain("--mount: more than %d", LIST_MAX);
        return false;
    }
    if (!guest || guest == s || guest[1] != '/' ||
        (mode && strcmp(mode, ":rw") != 0 && strcmp(mode, ":ro") != 0)) {
        complain("--mount: '%s' is not HOST:/GUEST[:rw]", s);
        return false;
    }
    *guest = 0;
    if (mode)
        *mode = 0;
    *m = (struct wsand_mount){s, guest + 1, mode && !strcmp(mode + 1, "rw")};
    q->sandbox.n_mounts++;
    return true;
}

/* A later value of the same variable replaces an earlier one. */
static bool
set_env(struct request *q, const char *s)
{
    const char *eq = strchr(s, '=');
    size_t len = eq ? (size_t)(eq - s) + 1 : 0;

    if (!eq || eq == s) {
        complain("--env: '%s' is not NAME=VALUE", s);
        return false;
    }
    for (size_t i = 0; i < q->n_env; i++)
        if (!strncmp(q->env[i], s, len)) {
            q->env[i] = s;
            return true;
        }
    if (q->n_env + 1 == sizeof q->env / sizeof *q->env) {
        complain("--env: too many variables");
        return false;
    }
    q->env[q->n_env++] = s;
    return true;
}

static bool
parse_option(struct request *q, int c, char *arg)
{
    struct wsand_options *o = &q->sandbox;

    switch (c) {
    case 'm':
        return parse_mount(q, arg);
    case 'e':
        return set_env(q, arg);
    case 'c':
        q->exec.cwd = arg;
        return true;
    case 'M':
        return parse_number("memory-limit", arg, 1 << 20, &o->memory_bytes);
    case 't':
        return parse_number("timeout-ms", arg, 1, &q->exec.timeout_ms);
    case 'f':
        return parse_number("fs-limit", arg, 1, &o->file_bytes);
    case 'n':
        return parse_number("file-count", arg, 1, &o->files);
    case 'p':
        return parse_number("processes", arg, 1, &o->processes);
    case 'S':
        o->is_deterministic = true;
        o->clock_ns = INT64_C(1735689600) * 1000000000; /* 2025-01-01 */
        return parse_number("seed", arg, 1, &o->seed);
    case 's':
        o->strace_fd = 2;
        return true;
    default:
        return false;
    }
}

/* -1: run it; else the exit status. */
static int
parse(struct request *q, int argc, char **argv)
{
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (c == ':')
            complain("exec: %s needs a value", argv[optind - 1]);
        else if (c == '?')
            complain("exec: unknown option '%s'; see wasm-sandbox exec "
                     "--help",
                     argv[optind - 1]);
        if (c == ':' || c == '?' || !parse_option(q, c, optarg))
            return EXIT_USAGE;
    }
    if (optind == argc) {
        complain("exec: no program; see wasm-sandbox exec --help");
        return EXIT_USAGE;
    }
    return -1;
}

/* --- running */

/* The program is /bin/NAME in the sandbox, without the ending. */
static bool
place_program(struct request *q, const char *host_path)
{
    const char *base = strrchr(host_path, '/');

    base = base ? base + 1 : host_path;
    size_t len = strlen(base);
    if (len > 5 && !strcmp(base + len - 5, ".wasm"))
        len -= 5;
    if (!len || len > NAME_MAX_BYTES || !strncmp(base, "..", len)) {
        complain("%s: not a file name", host_path);
        return false;
    }
    (void)snprintf(q->guest_path, sizeof q->guest_path, "/bin/%.*s", (int)len,
                   base);
    q->program = (struct wsand_program){host_path, q->guest_path};
    q->sandbox.programs = &q->program;
    q->sandbox.n_programs = 1;
    q->exec.path = q->guest_path;
    return true;
}

/* Signal handlers have no argument: the sandbox that runs now. */
static struct wsand_sandbox *current;

static void
on_signal(int sig)
{
    if (sig == SIGWINCH)
        wsand_window_changed(current);
    else
        wsand_signal(current, sig);
}

static void
forward_signals(struct wsand_sandbox *sb)
{
    static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                  SIGUSR1, SIGUSR2, SIGWINCH};
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    current = sb;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        (void)sigaction(signals[i], &act, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

/* The exit status of a result, with a line on stderr where it needs one. */
static int
status_of(const struct request *q, const struct wsand_result *res)
{
    if (res->timed_out) {
        complain("%s: timed out after %llu ms", q->program.host_path,
                 (unsigned long long)q->exec.timeout_ms);
        return EXIT_TIMEOUT;
    }
    if (res->reason[0])
        complain("%s: %s", q->program.host_path, res->reason);
    return res->signal ? 128 + res->signal : res->exit_code;
}

static int
run(struct request *q)
{
    /* Address space for all, twice: what has ended may still be on its way
     * out. A pool that is no larger makes the start short. */
    struct wsand_runtime_options ro = {
        .size = sizeof ro, .max_processes = 2 * (uint32_t)q->sandbox.processes};
    struct wsand_runtime *rt = NULL;
    struct wsand_sandbox *sb = NULL;
    struct wsand_result res = {0};
    struct wsand_error err = {0};
    int status = EXIT_USAGE;

    int r = wsand_runtime_new(&ro, &rt, &err);
    if (r == 0)
        r = wsand_sandbox_new(rt, &q->sandbox, &sb, &err);
    if (r == 0) {
        forward_signals(sb);
        r = wsand_exec(sb, &q->exec, &res, &err);
        status = r == 0 ? status_of(q, &res) : EXIT_CANNOT_RUN;
    }
    if (r < 0)
        complain("%s", err.message);
    if (r == -ENOEXEC || r == -ENOENT)
        status = EXIT_USAGE;
    wsand_sandbox_free(sb);
    wsand_runtime_free(rt);
    return status;
}

int
cmd_exec(int argc, char **argv)
{
    static struct request q = {
        .sandbox = {.size = sizeof q.sandbox, .processes = 64},
        .exec = {.size = sizeof q.exec, .stdio = {0, 1, 2}},
        .env = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/user",
                "USER=user", "LANG=C.UTF-8", "SHELL=/bin/sh"},
        .n_env = 5,
    };
    static char term_env[64];
    const char *term = getenv("TERM");

    if (term && (size_t)snprintf(term_env, sizeof term_env, "TERM=%s", term) <
                    sizeof term_env)
        (void)set_env(&q, term_env);
    int status = parse(&q, argc, argv);
    if (status >= 0)
        return status;
    if (!place_program(&q, argv[optind]))
        return EXIT_USAGE;
    q.sandbox.mounts = q.mounts;
    q.exec.envp = q.env;
    q.exec.argv = (const char *const *)argv + optind;
    return run(&q);
}
