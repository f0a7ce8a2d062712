/* SPDX-License-Identifier: MIT */
#include "switch.h"

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void *
need(void *p)
{
    if (!p)
        errx(CANNOT, "out of memory");
    return p;
}

void
set_variable(const char *name, const char *value)
{
    if (setenv(name, value, 1) < 0)
        err(CANNOT, "%s", name);
}

static bool
is_kept(const char *variable, const char *const *names)
{
    size_t len = strcspn(variable, "=");

    for (; *names; names++) {
        size_t n = strcspn(*names, "*");
        bool is_prefix = (*names)[n] == '*';
        if (!strncmp(variable, *names, n) && (is_prefix || n == len))
            return true;
    }
    return false;
}

void
keep_variables(const char *const *names)
{
    char **to = environ;

    for (char **from = environ; *from; from++)
        if (is_kept(*from, names))
            *to++ = *from;
    *to = NULL;
}

char *
quote_words(char **words)
{
    size_t len = 0;

    for (char **w = words; *w; w++)
        len += 2 * strlen(*w) + 1;
    if (!len)
        return NULL;
    char *text = need(malloc(len + 1)), *at = text;
    for (char **w = words; *w; w++) {
        if (w != words)
            *at++ = ' ';
        for (const char *c = *w; *c; c++) {
            if (!isalnum((unsigned char)*c) && !strchr("_-$", *c))
                *at++ = '\\';
            *at++ = *c;
        }
    }
    *at = 0;
    return text;
}

void
become(const struct passwd *pw, gid_t gid)
{
    if (geteuid() != 0)
        errx(CANNOT, "the effective uid is not 0: this program has lost its "
                     "set-uid bit, or no_new_privs is set");
    if (initgroups(pw->pw_name, gid) < 0 || setgid(gid) < 0 ||
        setuid(pw->pw_uid) < 0)
        err(CANNOT, "cannot become %s", pw->pw_name);
}

static char *
login_name(const char *shell)
{
    const char *base = strrchr(shell, '/');
    char *name = need(malloc(strlen(shell) + 2));

    *name = '-';
    strcpy(name + 1, base ? base + 1 : shell);
    return name;
}

void
run_shell(const char *shell, bool is_login, const char *command, char **more)
{
    const char *base = strrchr(shell, '/');
    size_t n = 0, at = 0;

    while (more && more[n])
        n++;
    char **argv = need(calloc(n + 4, sizeof *argv));
    argv[at++] =
        is_login ? login_name(shell) : (char *)(base ? base + 1 : shell);
    if (command) {
        argv[at++] = "-c";
        argv[at++] = (char *)command;
    }
    for (size_t i = 0; i < n; i++)
        argv[at++] = more[i];
    execv(shell, argv);
    err(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE, "failed to execute %s",
        shell);
}
