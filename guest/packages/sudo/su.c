/* SPDX-License-Identifier: MIT */
/* su without a password, with the options of util-linux. */
#include "switch.h"

#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
    const char *user, *command, *shell;
    bool is_login, keeps_environment;
    char **more;
};

static const char help[] =
    "Usage: su [options] [-] [<user> [<argument>...]]\n\n"
    "Changes the user to <user> (default: root) and runs its shell. No "
    "password is\n"
    "asked for: the sandbox is the boundary.\n\n"
    " -, -l, --login                 make the shell a login shell\n"
    " -c, --command <command>        pass a command to the shell\n"
    " -m, -p, --preserve-environment do not reset environment variables\n"
    " -s, --shell <shell>            run this shell\n"
    " -h, --help                     this text\n";

static const struct option options[] = {
    {"login", no_argument, NULL, 'l'},
    {"command", required_argument, NULL, 'c'},
    {"session-command", required_argument, NULL, 'c'},
    {"preserve-environment", no_argument, NULL, 'p'},
    {"shell", required_argument, NULL, 's'},
    {"pty", no_argument, NULL, 'P'},
    {"fast", no_argument, NULL, 'f'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static void
parse(struct request *q, int argc, char **argv)
{
    int c;

    while ((c = getopt_long(argc, argv, "lc:mps:Pfh", options, NULL)) != -1) {
        switch (c) {
        case 'l':
            q->is_login = true;
            break;
        case 'c':
            q->command = optarg;
            break;
        case 'm':
        case 'p':
            q->keeps_environment = true;
            break;
        case 's':
            q->shell = optarg;
            break;
        case 'P':
        case 'f':
            break;
        case 'h':
            fputs(help, stdout);
            exit(0);
        default:
            fputs("Try 'su --help' for more information.\n", stderr);
            exit(CANNOT);
        }
    }
    if (optind < argc && !strcmp(argv[optind], "-")) {
        q->is_login = true;
        optind++;
    }
    if (optind < argc)
        q->user = argv[optind++];
    q->more = argv + optind;
}

static void
set_environment(const struct request *q, const struct passwd *pw)
{
    static const char *const kept[] = {"TERM", "COLORTERM", "NO_COLOR", NULL};

    if (q->is_login) {
        keep_variables(kept);
        set_variable("PATH", pw->pw_uid ? USER_PATH : ADMIN_PATH);
    } else if (q->keeps_environment) {
        return;
    }
    set_variable("HOME", pw->pw_dir);
    set_variable("SHELL", q->shell ? q->shell : pw->pw_shell);
    set_variable("USER", pw->pw_name);
    set_variable("LOGNAME", pw->pw_name);
}

int
su_main(int argc, char **argv)
{
    struct request q = {.user = "root"};

    parse(&q, argc, argv);
    const struct passwd *pw = getpwnam(q.user);
    if (!pw)
        errx(CANNOT,
             "user %s does not exist or the user entry does not contain all "
             "the required fields",
             q.user);
    const char *own = getenv("SHELL");
    const char *shell =
        pw->pw_shell && *pw->pw_shell ? pw->pw_shell : "/bin/sh";
    if (q.shell)
        shell = q.shell;
    else if (q.keeps_environment && !q.is_login && own && *own)
        shell = own;
    set_environment(&q, pw);
    become(pw, pw->pw_gid);
    if (q.is_login && chdir(pw->pw_dir) < 0)
        warn("warning: cannot change directory to %s", pw->pw_dir);
    run_shell(shell, q.is_login, q.command, q.more);
}
