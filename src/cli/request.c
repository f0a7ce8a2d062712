/* Options that sub-commands share: parsing them into the structures of the
 * public header.
 *
 * Strings point into argv, except the paths of programs, which are copies. */
#include "cli/request.h"

#include "base/parse.h"
#include "base/vec.h"
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The mount point of a host folder that is the program's root directory. */
#define HOST_ROOT "/.host"

static const char options_help[] =
    "  --root IMAGE             root image, a tar file\n"
    "  --image NAME             an installed root image, or one of --images\n"
    "  --images LIST            further root images, NAME=PATH,... (also "
    "WASMSAND_IMAGES)\n"
    "  --tools DIR              make the programs (*.wasm) of a host folder "
    "commands\n"
    "  --mount HOST:GUEST[:rw]  mount a host folder, read-only unless :rw;\n"
    "                           :rw,bytes=N,files=N limits its growth\n"
    "                           [--fs-limit, --file-count]; with GUEST / it is "
    "the root\n"
    "  --env K=V                set an environment variable\n"
    "  --clear-env              start without environment variables\n"
    "  --cwd DIR                working folder in the sandbox\n"
    "  --user USER              user (uid 1000) or root [user]\n"
    "  --memory-limit MB        memory of all processes together [512]\n"
    "  --timeout-ms N           end the program after N ms (status 124) "
    "[never]\n"
    "  --fs-limit BYTES         maximum bytes in files [268435456]\n"
    "  --file-count N           maximum number of files [10000; shell: "
    "100000]\n"
    "  --processes N            maximum number of processes [64]\n"
    "  --seed N                 repeatable run: fixed random numbers and "
    "clock\n"
    "  --net RULE               allow connections to a host: NAME[:PORTS], "
    "ADDRESS[/BITS][:PORTS],\n"
    "                           public, or off; !RULE denies; see "
    "docs/network.md [off]\n"
    "  --resolvers LIST         name servers of --net, with commas between "
    "them [the host's]\n"
    "  --strace                 print system calls to standard error\n"
    "  --help                   print this text\n";

static const struct option options[] = {
    {"mount", required_argument, NULL, 'm'},
    {"env", required_argument, NULL, 'e'},
    {"clear-env", no_argument, NULL, 'E'},
    {"cwd", required_argument, NULL, 'c'},
    {"user", required_argument, NULL, 'u'},
    {"memory-limit", required_argument, NULL, 'M'},
    {"timeout-ms", required_argument, NULL, 't'},
    {"fs-limit", required_argument, NULL, 'f'},
    {"file-count", required_argument, NULL, 'n'},
    {"processes", required_argument, NULL, 'p'},
    {"seed", required_argument, NULL, 'S'},
    {"net", required_argument, NULL, 'N'},
    {"resolvers", required_argument, NULL, 'R'},
    {"strace", no_argument, NULL, 's'},
    {"root", required_argument, NULL, 'r'},
    {"image", required_argument, NULL, 'i'},
    {"images", required_argument, NULL, 'I'},
    {"tools", required_argument, NULL, 'T'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

#define SYSTEM_PATH ":/usr/local/bin:/usr/bin:/bin"

/* Positions in user_env.env. */
enum { PATH, HOME, USER, LOGNAME, USER_VARIABLES };

/* The variables that depend on the user inside. */
static const struct user_env {
    const char *name, *env[USER_VARIABLES];
} users[] = {
    {"user",
     {"PATH=/home/user/.local/bin" SYSTEM_PATH, "HOME=/home/user", "USER=user",
      "LOGNAME=user"}},
    {"root",
     {"PATH=/root/.local/bin" SYSTEM_PATH, "HOME=/root", "USER=root",
      "LOGNAME=root"}},
};

/* --- options */

/* 0 is refused: as a limit it would mean the default. */
bool
request_parse_number(const char *name, const char *s, uint64_t scale,
                     uint64_t *ret)
{
    uint64_t n;

    if (!parse_u64_text(s, UINT64_MAX / scale, &n) || !n) {
        complain("--%s: '%s' is not a positive number", name, s);
        return false;
    }
    *ret = n * scale;
    return true;
}

/* Parses "bytes=N,files=N", which is cut in place. */
static bool
request_parse_growth(char *s, struct wsand_mount_limit *l)
{
    char *word;

    while ((word = strsep(&s, ","))) {
        uint64_t *to = !strncmp(word, "bytes=", 6)   ? &l->bytes
                       : !strncmp(word, "files=", 6) ? &l->files
                                                     : NULL;
        if (!to) {
            complain("--mount: '%s' is not bytes=N or files=N", word);
            return false;
        }
        if (!request_parse_number("mount", word + 6, 1, to))
            return false;
    }
    return true;
}

/* Parses HOST:GUEST[:rw[,bytes=N][,files=N]], which is cut in place. A mount at
 * / cannot replace the root, which has /dev and /proc. It is mounted elsewhere,
 * and becomes the root directory of the program. */
static bool
request_parse_mount(struct exec_request *q, char *s)
{
    struct wsand_mount *m = &q->mounts[q->sandbox.n_mounts];
    struct wsand_mount_limit *l = &q->mount_limits[q->sandbox.n_mount_limits];
    char *guest = strchr(s, ':');
    char *mode = guest ? strchr(guest + 1, ':') : NULL;
    char *growth = mode ? strchr(mode, ',') : NULL;

    if (q->sandbox.n_mounts == LIST_MAX) {
        complain("--mount: more than %d", LIST_MAX);
        return false;
    }
    if (growth)
        *growth++ = 0;
    if (!guest || guest == s || guest[1] != '/' ||
        (mode && strcmp(mode, ":rw") != 0 && strcmp(mode, ":ro") != 0)) {
        complain("--mount: '%s' is not HOST:/GUEST[:rw]", s);
        return false;
    }
    if (growth && !request_parse_growth(growth, l))
        return false;
    *guest = 0;
    if (mode)
        *mode = 0;
    bool is_root = !guest[2];
    if (is_root && q->is_shell) {
        complain("--mount: a host folder cannot be the root of a shell");
        return false;
    }
    if (is_root)
        q->exec.root = HOST_ROOT;
    *m = (struct wsand_mount){.host_path = s,
                              .guest_path = is_root ? HOST_ROOT : guest + 1,
                              .is_writable = mode && !strcmp(mode + 1, "rw")};
    l->guest_path = m->guest_path;
    q->sandbox.n_mount_limits += growth != NULL;
    q->sandbox.n_mounts++;
    return true;
}

/* A program that could not be added completely is counted nevertheless, so that
 * request_fini frees its parts. */
bool
request_add_program(struct exec_request *q, const char *host_path,
                    const char *guest_path, bool is_checked)
{
    size_t n = q->sandbox.n_programs;
    bool has_room = VEC_ROOM(q->programs, n);
    struct wsand_program *p = has_room ? &q->programs[n] : NULL;

    if (p) {
        q->sandbox.programs = q->programs;
        q->sandbox.n_programs++;
        *p = (struct wsand_program){.host_path = strdup(host_path),
                                    .guest_path = strdup(guest_path),
                                    .is_checked = is_checked};
    }
    if (p && p->host_path && p->guest_path)
        return true;
    complain("out of memory");
    return false;
}

/* A later value of the same variable replaces an earlier one. Two entries are
 * kept free for PWD and the final NULL. */
static bool
request_set_env(struct exec_request *q, const char *s)
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
    if (q->n_env + 3 > sizeof q->env / sizeof *q->env) {
        complain("--env: too many variables");
        return false;
    }
    q->env[q->n_env++] = s;
    return true;
}

/* Replaces the default variables of the old user by those of the new one.
 * Variables that were given with --env stay, because they are compared by
 * address. */
static bool
request_set_user(struct exec_request *q, const char *name)
{
    const struct user_env *u = NULL;

    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        if (!strcmp(name, users[i].name))
            u = &users[i];
    if (!u) {
        complain("--user: '%s' is not user or root", name);
        return false;
    }
    for (size_t i = 0; i < q->n_env; i++)
        for (size_t n = 0; n < USER_VARIABLES; n++)
            if (q->env[i] == q->user->env[n])
                q->env[i] = u->env[n];
    q->user = u;
    q->sandbox.user = u->name;
    return true;
}

/* `off` removes the rules before it. The library checks them. */
static bool
request_add_rule(struct exec_request *q, const char *rule)
{
    if (!strcmp(rule, "off")) {
        q->n_net = 0;
        q->sandbox.network = NULL;
        return true;
    }
    const char **v = realloc(q->net, (q->n_net + 2) * sizeof *v);
    if (!v) {
        complain("out of memory");
        return false;
    }
    v[q->n_net++] = rule;
    v[q->n_net] = NULL;
    q->sandbox.network = q->net = v;
    return true;
}

/* Returns false after reporting an error. A repeatable run starts at a fixed
 * date. */
static bool
request_parse_option(struct exec_request *q, int c, char *arg)
{
    struct wsand_options *o = &q->sandbox;

    switch (c) {
    case 'm':
        return request_parse_mount(q, arg);
    case 'e':
        return request_set_env(q, arg);
    case 'E':
        memset(q->env, 0, sizeof q->env);
        q->n_env = 0;
        q->has_no_pwd = true;
        return true;
    case 'c':
        q->exec.cwd = arg;
        return true;
    case 'u':
        return request_set_user(q, arg);
    case 'M':
        return request_parse_number("memory-limit", arg, 1 << 20,
                                    &o->memory_bytes);
    case 't':
        return request_parse_number("timeout-ms", arg, 1, &q->exec.timeout_ms);
    case 'f':
        return request_parse_number("fs-limit", arg, 1, &o->file_bytes);
    case 'n':
        return request_parse_number("file-count", arg, 1, &o->files);
    case 'p':
        return request_parse_number("processes", arg, 1, &o->processes);
    case 'S':
        o->is_deterministic = true;
        o->clock_ns = INT64_C(1735689600) * 1000000000; /* 2025-01-01 */
        return request_parse_number("seed", arg, 1, &o->seed);
    case 'r':
        q->root = arg;
        return true;
    case 'i':
        o->image = arg;
        return true;
    case 'I':
        q->images = arg;
        return true;
    case 'T':
        return tools_add(q, arg);
    case 'N':
        return request_add_rule(q, arg);
    case 'R':
        q->resolvers = arg;
        return true;
    case 's':
        o->strace_fd = 2;
        return true;
    default:
        return false;
    }
}

/* The variables and their order are those with which the shell of a root image
 * was frozen (freeze.c). */
void
request_init(struct exec_request *q)
{
    const char *const env[] = {users->env[PATH],  "LANG=C.UTF-8",
                               "SHELL=/bin/bash", users->env[HOME],
                               users->env[USER],  users->env[LOGNAME]};
    const char *term = getenv("TERM");

    *q = (struct exec_request){
        .user = users,
        .sandbox = {.size = sizeof q->sandbox, .processes = 64},
        .exec = {.size = sizeof q->exec, .stdio = {0, 1, 2}}};
    for (size_t i = 0; i < sizeof env / sizeof *env; i++)
        q->env[q->n_env++] = env[i];
    if (term && strlen(term) < sizeof q->term - 5) {
        (void)snprintf(q->term, sizeof q->term, "TERM=%s", term);
        q->env[q->n_env++] = q->term;
    }
    q->sandbox.mounts = q->mounts;
    q->sandbox.mount_limits = q->mount_limits;
    q->exec.envp = q->env;
}

const char *
request_home(const struct exec_request *q)
{
    return strchr(q->user->env[HOME], '=') + 1;
}

/* Only programs and the list of rules are allocated; everything else points
 * into argv. */
void
request_fini(struct exec_request *q)
{
    for (size_t i = 0; i < q->sandbox.n_programs; i++) {
        free((char *)q->programs[i].host_path);
        free((char *)q->programs[i].guest_path);
    }
    free(q->programs);
    free(q->net);
}

/* Returns whether the word is one of our options. The first word that is not
 * begins another command line, for example that of bash. */
static bool
request_is_known(const char *word)
{
    size_t len = strcspn(word, "=");

    if (strncmp(word, "--", 2) != 0)
        return false;
    for (const struct option *o = options; o->name; o++)
        if (strlen(o->name) == len - 2 &&
            strncmp(o->name, word + 2, len - 2) == 0)
            return true;
    return false;
}

/* getopt names an unknown letter in optopt. For a long option, the text is in
 * argv. */
static void
request_complain_of_unknown(char **argv)
{
    const char letter[] = {'-', (char)optopt, 0};
    bool is_long = !optopt || !strncmp(argv[optind - 1], "--", 2);

    complain("%s: unknown option '%s'; see wasm-sandbox %s --help", argv[0],
             is_long ? argv[optind - 1] : letter, argv[0]);
}

/* The loop asks getopt for one option at a time, so that it can stop before a
 * word that is not ours. */
int
request_parse(struct exec_request *q, int argc, char **argv, const char *help,
              bool stop_at_unknown, int *ret_rest)
{
    int c;

    opterr = 0;
    optind = 1;
    while (!stop_at_unknown ||
           (optind < argc && request_is_known(argv[optind]))) {
        c = getopt_long(argc, argv, "+:h", options, NULL);
        if (c == -1)
            break;
        if (c == 'h') {
            printf("%s%s", help, options_help);
            return 0;
        }
        if (c == ':')
            complain("%s: %s needs a value", argv[0], argv[optind - 1]);
        else if (c == '?')
            request_complain_of_unknown(argv);
        if (c == ':' || c == '?' || !request_parse_option(q, c, optarg))
            return EXIT_USAGE;
    }
    *ret_rest = optind;
    return -1;
}
