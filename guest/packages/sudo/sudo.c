/* SPDX-License-Identifier: MIT */
/* sudo without a password and without rules: the sandbox is the boundary, not
 * the user. Options and environment are those of sudo 1.9 as Debian has it. */
#include "switch.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct request {
    const char *user, *group, *folder, *keeps; /* keeps: names, with commas */
    bool keeps_all, is_login, is_shell, sets_home;
    char **words;
};

static const char help[] =
    "usage: sudo [-EHnS] [-u user] [-g group] [-D folder] [-i | -s] "
    "[VAR=value]\n"
    "            [--] [command [arg ...]]\n"
    "       sudo -l | -v | -k | -K | -V | -h\n"
    "Runs a command as another user (default: root). No password is asked "
    "for:\n"
    "the sandbox is the boundary.\n";

enum { OPT_KEEP = 256 };

static const struct option options[] = {
    {"user", required_argument, NULL, 'u'},
    {"group", required_argument, NULL, 'g'},
    {"chdir", required_argument, NULL, 'D'},
    {"preserve-env", optional_argument, NULL, OPT_KEEP},
    {"login", no_argument, NULL, 'i'},
    {"shell", no_argument, NULL, 's'},
    {"set-home", no_argument, NULL, 'H'},
    {"non-interactive", no_argument, NULL, 'n'},
    {"stdin", no_argument, NULL, 'S'},
    {"prompt", required_argument, NULL, 'p'},
    {"preserve-groups", no_argument, NULL, 'P'},
    {"list", no_argument, NULL, 'l'},
    {"validate", no_argument, NULL, 'v'},
    {"reset-timestamp", no_argument, NULL, 'k'},
    {"remove-timestamp", no_argument, NULL, 'K'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static void
say_list(void)
{
    const struct passwd *pw = getpwuid(getuid());

    printf("User %s may run the following commands here:\n"
           "    (ALL : ALL) NOPASSWD: ALL\n",
           pw ? pw->pw_name : "?");
    exit(0);
}

static void
take_option(struct request *q, int c)
{
    switch (c) {
    case 'u':
        q->user = optarg;
        break;
    case 'g':
        q->group = optarg;
        break;
    case 'D':
        q->folder = optarg;
        break;
    case OPT_KEEP:
        q->keeps_all |= !optarg;
        q->keeps = optarg;
        break;
    case 'E':
        q->keeps_all = true;
        break;
    case 'i':
        q->is_login = true;
        break;
    case 's':
        q->is_shell = true;
        break;
    case 'H':
        q->sets_home = true;
        break;
    case 'l':
        say_list();
        break;
    case 'V':
        puts("sudo of the sandbox, with the options of version 1.9");
        exit(0);
    case 'h':
        fputs(help, stdout);
        exit(0);
    case '?':
        fputs(help, stderr);
        exit(CANNOT);
    default: /* -n, -S, -p, -P: there is no password */
        break;
    }
}

/* The command, or what ends without one. */
static void
parse(struct request *q, int argc, char **argv)
{
    bool is_done = false;
    int c;

    while ((c = getopt_long(argc, argv, "+u:g:D:EisHnSp:PlvkKVh", options,
                            NULL)) != -1) {
        is_done |= c == 'v' || c == 'k' || c == 'K';
        take_option(q, c);
    }
    q->words = argv + optind;
    if (!*q->words && is_done)
        exit(0);
    if (q->is_login && q->is_shell)
        errx(CANNOT, "you may not specify both the -i and -s options");
    if (!*q->words && !q->is_login && !q->is_shell) {
        fputs(help, stderr);
        exit(CANNOT);
    }
}

/* A name, or # and a number. */
static const struct passwd *
find_user(const char *name)
{
    char *end;
    unsigned long id = strtoul(name + 1, &end, 10);
    const struct passwd *pw =
        *name == '#' && name[1] && !*end ? getpwuid(id) : getpwnam(name);

    if (!pw)
        errx(CANNOT, "unknown user %s", name);
    return pw;
}

static gid_t
find_group(const struct request *q, const struct passwd *pw)
{
    if (!q->group)
        return pw->pw_gid;
    const struct group *g = getgrnam(q->group);
    if (!g)
        errx(CANNOT, "unknown group %s", q->group);
    return g->gr_gid;
}

static void
reset_environment(const struct request *q)
{
    enum { NAMES_MAX = 64 };
    static const char *kept[NAMES_MAX] = {
        "TERM",     "COLORTERM", "COLORS", "LS_COLORS", "DISPLAY", "LANG",
        "LANGUAGE", "LC_*",      "TZ",     "PS1",       "PS2"};
    size_t n = 11;

    if (q->keeps_all)
        return;
    char *names = q->keeps ? strdup(q->keeps) : NULL;
    for (char *name = names ? strtok(names, ",") : NULL;
         name && n < NAMES_MAX - 1; name = strtok(NULL, ","))
        kept[n++] = name;
    keep_variables(kept);
}

static void
set_number(const char *name, unsigned long n)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%lu", n);
    set_variable(name, text);
}

static void
set_environment(const struct request *q, const struct passwd *pw)
{
    const struct passwd *own = getpwuid(getuid());
    char *caller = strdup(own ? own->pw_name : "?");

    pw = find_user(q->user); /* getpwuid has overwritten it */
    reset_environment(q);
    if (q->is_login || q->sets_home || !q->keeps_all || !getenv("HOME"))
        set_variable("HOME", pw->pw_dir);
    set_variable("PATH", ADMIN_PATH);
    set_variable("USER", pw->pw_name);
    set_variable("LOGNAME", pw->pw_name);
    if (!getenv("SHELL") || q->is_login)
        set_variable("SHELL", pw->pw_shell);
    set_variable("SUDO_USER", caller ? caller : "?");
    set_number("SUDO_UID", getuid());
    set_number("SUDO_GID", getgid());
}

/* NAME=VALUE before the command. */
static void
take_assignments(struct request *q)
{
    for (; *q->words && strchr(*q->words, '='); q->words++)
        if (putenv(*q->words) != 0)
            err(CANNOT, "%s", *q->words);
}

static void
enter(const struct request *q, const char *home)
{
    const char *folder = q->folder ? q->folder : q->is_login ? home : NULL;

    if (!folder || chdir(folder) == 0)
        return;
    if (q->folder)
        err(CANNOT, "unable to change directory to %s", folder);
    warn("unable to change directory to %s", folder);
}

static void
run_command(char **words)
{
    set_variable("SUDO_COMMAND", words[0]);
    execvp(words[0], words);
    if (errno == ENOENT)
        errx(CANNOT, "%s: command not found", words[0]);
    err(NOT_EXECUTABLE, "unable to execute %s", words[0]);
}

int
main(int argc, char **argv)
{
    struct request q = {.user = "root"};
    const char *base = strrchr(argv[0], '/');

    if (!strcmp(base ? base + 1 : argv[0], "su"))
        return su_main(argc, argv);
    parse(&q, argc, argv);
    gid_t gid = find_group(&q, find_user(q.user));
    set_environment(&q, find_user(q.user));
    take_assignments(&q);
    if (!*q.words && !q.is_login && !q.is_shell) {
        fputs(help, stderr);
        return CANNOT;
    }
    const struct passwd *pw = find_user(q.user);
    umask(umask(0) | 022);
    become(pw, gid);
    enter(&q, pw->pw_dir);
    if (!q.is_login && !q.is_shell)
        run_command(q.words);
    const char *own = getenv("SHELL");
    const char *shell = q.is_shell && own && *own ? own : pw->pw_shell;
    char *command = quote_words(q.words);
    set_variable("SUDO_COMMAND", command ? command : shell);
    run_shell(shell, q.is_login, command, NULL);
}
