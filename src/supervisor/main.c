/* wasmsand-supervisor: the commands `limit`, `serve` and `fsck`, and the
 * spawner. wasm-sandbox starts this program, which does not contain the engine:
 * a process with privileges should be small. */
#include "base/exit.h"
#include "base/hfd.h"
#include "supervisor/config/config.h"
#include "supervisor/fsck.h"
#include "supervisor/jail/ending.h"
#include "supervisor/jail/jail.h"
#include "supervisor/jail/probe.h"
#include "supervisor/jail/watch.h"
#include "supervisor/serve.h"
#include "supervisor/workers/spawner.h"
#include "wire/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Space for the error of an option. */
enum { WHY_BYTES = 256 };

/* --- limit */

/* Refuses to start with a limit that nothing enforces, unless the user allowed
 * it. */
static bool
main_all_enforced(const struct cgroup_host *h, const struct options *o)
{
    for (int i = 0; i < N_LIMITS; i++) {
        if (probe_enforcer(h, (enum limit)i) || o->unenforced_ok[i])
            continue;
        text_logf("limit: nothing on this host enforces the limit '%s'; "
                  "--allow-unenforced %s starts without it",
                  limit_rows[i].name, limit_rows[i].name);
        return false;
    }
    return true;
}

/* Runs the command in a jail, and returns its exit status. Errors of our own
 * have statuses above 124, like those of env and timeout. */
static int
main_run_in(const struct cgroup *group, const struct options *o)
{
    char where[WHERE_BYTES];
    struct ending e;
    struct jail j;

    int r = jail_start(&j, o, group, where);
    if (r < 0) {
        text_logf("limit: no jail: %s: %s", where, strerror(-r));
        return EXIT_CANNOT;
    }
    r = watch_run(&j, group, o->limit, &e);
    if (r < 0) {
        text_logf("limit: %s: %s", o->command[0], strerror(-r));
        return r == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
    }
    ending_print(&e, o->limit, stderr);
    return ending_exit_status(&e);
}

/* Creates the group of the jail and removes it afterwards, with everything in
 * it. */
static int
main_run_on(const struct cgroup_host *h, const struct options *o)
{
    struct cgroup group;

    if (!main_all_enforced(h, o))
        return EXIT_CANNOT;
    int r = jail_group(&group, h, o->limit);
    if (r < 0) {
        text_logf("limit: cgroup: %s", strerror(-r));
        return EXIT_CANNOT;
    }
    int status = main_run_in(&group, o);
    cgroup_fini(&group);
    return status;
}

/* Signals that end a program are passed on to the command instead. So is
 * SIGCONT, which lets a stopped command receive them. */
static void
main_block_signals(void)
{
    static const int passed_on[] = {SIGTERM, SIGINT,  SIGHUP, SIGQUIT,
                                    SIGUSR1, SIGUSR2, SIGCONT};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(&set, passed_on[i]);
    (void)sigprocmask(SIG_SETMASK, &set, NULL);
}

/* Signals are blocked before anything is started: none may arrive without a
 * handler. */
static int
main_limit_main(const struct options *o)
{
    struct cgroup_host h;

    if (!o->command[0]) {
        text_logf("limit: no command; see wasm-sandbox limit --help");
        return EXIT_USAGE;
    }
    main_block_signals();
    cgroup_host_init(&h, o);
    int status = main_run_on(&h, o);
    cgroup_host_fini(&h);
    return status;
}

/* --- serve */

/* The options themselves are generated from config.def. */
static const char serve_help[] =
    "usage: wasm-sandbox serve [OPTION]...\n"
    "Serves durable sessions (docs/sessions.md). Every option is also a key "
    "of the\n"
    "configuration file and an environment variable (docs/config.md).\n\n"
    "  --check-config          print the effective configuration, or all "
    "errors\n"
    "  --probe                 print how this host enforces each limit; "
    "exit with 0 if it\n"
    "                          can enforce all of them\n";

/* Removes the first occurrence of the word. Returns whether there was one. */
static bool
main_take_word(char **words, const char *word)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    bool is_there = *words;
    for (; *words; words++)
        words[0] = words[1];
    return is_there;
}

/* --help, --check-config and --probe may stand anywhere among the options. */
static int
main_serve(char **words)
{
    if (main_take_word(words, "--help")) {
        (void)fputs(serve_help, stdout);
        config_print_options(stdout);
        return 0;
    }
    if (main_take_word(words, "--check-config"))
        return config_check_main(words);
    if (main_take_word(words, "--probe"))
        return probe_main(words);
    return serve_main(words);
}

/* --- commands */

/* The options themselves come from limits.def and jail/options.c. */
static const char limit_help[] =
    "usage: wasm-sandbox limit [OPTION]... [--] COMMAND [ARG]...\n"
    "Runs a native program in a jail with limits. The program sees the host's "
    "programs\n"
    "read-only and an empty /workspace, which is removed afterwards. Reports "
    "on\n"
    "standard error how the program ended. The exit status is the program's "
    "(128+n for\n"
    "signal n), or 125 if the jail could not be created.\n\n";

/* Parses the options, and prints the help. */
static int
main_limit(int argc, char **argv)
{
    struct options o;
    char why[WHY_BYTES];

    if (options_parse(&o, argc, argv, why, sizeof why) < 0) {
        text_logf("%s: %s", argv[0], why);
        return EXIT_USAGE;
    }
    if (!o.help)
        return main_limit_main(&o);
    fputs(limit_help, stdout);
    options_print();
    return 0;
}

/* The first argument is the command. wasm-sandbox passes its own arguments
 * on. */
static int
main_dispatch(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    if (!strcmp(word, "serve"))
        return main_serve(argv + 2);
    if (!strcmp(word, "fsck"))
        return fsck_main(argv + 2);
    if (!strcmp(word, "spawner"))
        return spawner_main();
    if (!strcmp(word, "limit"))
        return main_limit(argc - 1, argv + 1);
    text_logf("supervisor: unknown command '%s'", word);
    return EXIT_USAGE;
}

/* Output that could not be written is an error, even if everything else
 * succeeded. */
int
main(int argc, char **argv)
{
    if (!hfd_fill_standard())
        return EXIT_CANNOT;
    int status = main_dispatch(argc, argv);

    if (fflush(stdout) == 0 || status != 0)
        return status;
    text_logf("standard output: %s", strerror(errno));
    return EXIT_FAILURE;
}
