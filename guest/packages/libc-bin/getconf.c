/* SPDX-License-Identifier: MIT */
/* getconf NAME [PATH], getconf -a: the values of sysconf, pathconf, limits.h */
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum kind { SYSTEM, PATHNAME, CONSTANT };

static const struct {
    const char *name;
    enum kind kind;
    long value;
} variables[] = {
    {"ARG_MAX", SYSTEM, _SC_ARG_MAX},
    {"CHAR_BIT", CONSTANT, CHAR_BIT},
    {"CHILD_MAX", SYSTEM, _SC_CHILD_MAX},
    {"CLK_TCK", SYSTEM, _SC_CLK_TCK},
    {"HOST_NAME_MAX", SYSTEM, _SC_HOST_NAME_MAX},
    {"INT_MAX", CONSTANT, INT_MAX},
    {"INT_MIN", CONSTANT, INT_MIN},
    {"IOV_MAX", SYSTEM, _SC_IOV_MAX},
    {"LINE_MAX", SYSTEM, _SC_LINE_MAX},
    {"LINK_MAX", PATHNAME, _PC_LINK_MAX},
    {"LOGIN_NAME_MAX", SYSTEM, _SC_LOGIN_NAME_MAX},
    {"LONG_BIT", CONSTANT, sizeof(long) * CHAR_BIT},
    {"NAME_MAX", PATHNAME, _PC_NAME_MAX},
    {"NGROUPS_MAX", SYSTEM, _SC_NGROUPS_MAX},
    {"OPEN_MAX", SYSTEM, _SC_OPEN_MAX},
    {"PAGESIZE", SYSTEM, _SC_PAGESIZE},
    {"PAGE_SIZE", SYSTEM, _SC_PAGESIZE},
    {"PATH_MAX", PATHNAME, _PC_PATH_MAX},
    {"PIPE_BUF", PATHNAME, _PC_PIPE_BUF},
    {"SSIZE_MAX", CONSTANT, SSIZE_MAX},
    {"SYMLOOP_MAX", SYSTEM, _SC_SYMLOOP_MAX},
    {"TTY_NAME_MAX", SYSTEM, _SC_TTY_NAME_MAX},
    {"TZNAME_MAX", SYSTEM, _SC_TZNAME_MAX},
    {"WORD_BIT", CONSTANT, sizeof(int) * CHAR_BIT},
    {"_NPROCESSORS_CONF", SYSTEM, _SC_NPROCESSORS_CONF},
    {"_NPROCESSORS_ONLN", SYSTEM, _SC_NPROCESSORS_ONLN},
    {"_PHYS_PAGES", SYSTEM, _SC_PHYS_PAGES},
    {"_AVPHYS_PAGES", SYSTEM, _SC_AVPHYS_PAGES},
    {"_POSIX_VERSION", SYSTEM, _SC_VERSION},
};

static void
print(size_t i, const char *path)
{
    long value = variables[i].value;

    errno = 0;
    if (variables[i].kind == SYSTEM)
        value = sysconf((int)value);
    else if (variables[i].kind == PATHNAME)
        value = pathconf(path, (int)value);
    if (value == -1 && errno)
        err(1, "%s", variables[i].name);
    if (value == -1 && variables[i].kind != CONSTANT)
        puts("undefined");
    else
        printf("%ld\n", value);
}

int
main(int argc, char **argv)
{
    size_t n = sizeof variables / sizeof *variables;

    if (argc == 2 && !strcmp(argv[1], "-a")) {
        for (size_t i = 0; i < n; i++) {
            printf("%-35s", variables[i].name);
            print(i, "/");
        }
        return 0;
    }
    if (argc < 2 || argc > 3)
        errx(2, "usage: getconf -a | NAME [PATH]");
    if (!strcmp(argv[1], "PATH") || !strcmp(argv[1], "CS_PATH"))
        return puts("/bin:/usr/bin") < 0;
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(variables[i].name, argv[1])) {
            print(i, argc == 3 ? argv[2] : "/");
            return 0;
        }
    }
    errx(2, "Unrecognized variable `%s'", argv[1]);
}
