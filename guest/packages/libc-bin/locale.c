/* SPDX-License-Identifier: MIT */
/* locale [-a | -m | charmap]: the locale of the environment, or what there is
 */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const categories[] = {
    "LC_CTYPE",    "LC_NUMERIC",   "LC_TIME",        "LC_COLLATE",
    "LC_MONETARY", "LC_MESSAGES",  "LC_PAPER",       "LC_NAME",
    "LC_ADDRESS",  "LC_TELEPHONE", "LC_MEASUREMENT", "LC_IDENTIFICATION",
};

static const char *
variable(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

/* A value that comes from another variable is quoted. */
static void
print_environment(void)
{
    const char *all = variable("LC_ALL"), *lang = variable("LANG");

    printf("LANG=%s\nLANGUAGE=%s\n", lang, variable("LANGUAGE"));
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        const char *own = variable(categories[i]);
        const char *implied = *lang ? lang : "POSIX";

        if (*own && !*all)
            printf("%s=%s\n", categories[i], own);
        else
            printf("%s=\"%s\"\n", categories[i], *all ? all : implied);
    }
    printf("LC_ALL=%s\n", all);
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    setlocale(LC_ALL, "");
    if (!strcmp(what, "-a"))
        puts("C\nC.utf8\nPOSIX");
    else if (!strcmp(what, "-m"))
        puts("ANSI_X3.4-1968\nUTF-8");
    else if (!strcmp(what, "charmap"))
        puts(nl_langinfo(CODESET));
    else if (!*what)
        print_environment();
    else
        return 1;
    return 0;
}
