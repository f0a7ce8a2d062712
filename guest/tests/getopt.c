/* SPDX-License-Identifier: MIT */
/* getopt and getopt_long as GNU's: what they find, in which order they leave
 * the words, and what they say. */
#include "check.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum how { SHORT, LONG, ONLY };

static int flag;
static const struct option options[] = {
    {"quiet", no_argument, NULL, 'q'},
    {"silent", no_argument, NULL, 'q'},
    {"sandbox", no_argument, NULL, 1000},
    {"separate", no_argument, NULL, 's'},
    {"size", required_argument, NULL, 'z'},
    {"colour", optional_argument, NULL, 'c'},
    {"color", optional_argument, NULL, 'c'},
    {"set", no_argument, &flag, 7},
    {"x", no_argument, NULL, 'X'},
    {NULL, 0, NULL, 0}};

static char result[500];

__attribute__((format(printf, 1, 2))) static void
note(const char *format, ...)
{
    size_t len = strlen(result);
    va_list list;

    va_start(list, format);
    vsnprintf(result + len, sizeof result - len, format, list);
    va_end(list);
}

/* Appends the messages on stderr since the last call to the transcript. */
static void
note_messages(FILE *said)
{
    char text[300];
    size_t n;

    fflush(stderr);
    rewind(said);
    n = fread(text, 1, sizeof text - 1, said);
    text[n] = 0;
    if (n)
        note("[%s]", text);
}

static void
run(enum how how, const char *spec, char **argv, int argc)
{
    int c, index = -1;

    optind = 0;
    opterr = 1;
    for (;;) {
        c = how == SHORT  ? getopt(argc, argv, spec)
            : how == LONG ? getopt_long(argc, argv, spec, options, &index)
                          : getopt_long_only(argc, argv, spec, options, &index);
        if (c == -1)
            break;
        if (c > 31 && c < 127)
            note("%c", c);
        else
            note("<%d>", c);
        if (c == '?' || c == ':')
            note("%d", optopt);
        if (optarg)
            note("=%s", optarg);
        note(" ");
    }
    note("|");
    for (; optind < argc; optind++)
        note(" %s", argv[optind]);
}

/* expect(how, SPEC, "words of a command", result) */
static void
expect(enum how how, const char *spec, const char *words, const char *want)
{
    char line[200], *argv[20], *save;
    int argc = 0, out = dup(2);
    FILE *said = tmpfile();

    CHECK(said && out >= 0 && dup2(fileno(said), 2) == 2);
    strcpy(line, words);
    for (char *w = strtok_r(line, " ", &save); w;
         w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    argv[argc] = NULL;
    result[0] = 0;
    run(how, spec, argv, argc);
    note_messages(said);
    CHECK(dup2(out, 2) == 2);
    close(out);
    fclose(said);
    if (strcmp(result, want) != 0)
        fprintf(stderr, "%s\n  gives %s\n  not   %s\n", words, result, want);
    CHECK(strcmp(result, want) == 0);
}

static void
short_options(void)
{
    expect(SHORT, "ab:c::", "p -a -b 1 -b2 -c -c3", "a b=1 b=2 c c=3 |");
    expect(SHORT, "ab:", "p x -a y -ab z w -- -v", "a a b=z | x y w -v");
    expect(SHORT, "+ab:", "p x -a", "| x -a");
    expect(SHORT, "-ab:", "p x -a y", "<1>=x a <1>=y |");
    expect(SHORT, "ab:", "p -a - -- -a", "a | - -a");
    expect(SHORT, "ab:", "p -x -a", "?120 a |[p: invalid option -- 'x'\n]");
    expect(SHORT, "ab:", "p -ab",
           "a ?98 |[p: option requires an argument -- 'b'\n]");
    expect(SHORT, ":ab:", "p -xb", "?120 :98 |");
    expect(SHORT, "a", "p -:", "?58 |[p: invalid option -- ':'\n]");
    expect(SHORT, "a", "p x y", "| x y");
    setenv("POSIXLY_CORRECT", "1", 1);
    expect(SHORT, "ab:", "p -a x -b 1", "a | x -b 1");
    unsetenv("POSIXLY_CORRECT");
}

static void
long_options(void)
{
    expect(LONG, "qz:", "p --quiet a --size 3 --size=4 b --colour --colo=red",
           "q z=3 z=4 c c=red | a b");
    expect(LONG, "q", "p --set --sil", "<0> q |");
    CHECK(flag == 7);
    expect(LONG, "q", "p --nope=3 -q",
           "?0 q |[p: unrecognized option '--nope=3'\n]");
    expect(LONG, "q", "p --quiet=x",
           "?113 |[p: option '--quiet' doesn't allow an argument\n]");
    expect(LONG, "q", "p --size",
           "?122 |[p: option '--size' requires an argument\n]");
    expect(LONG, ":q", "p --size", ":122 |");
    expect(LONG, "q", "p --s=1",
           "?0 |[p: option '--s=1' is ambiguous; possibilities: '--silent' "
           "'--sandbox' '--separate' '--size' '--set'\n]");
    expect(LONG, "q", "p --se",
           "?0 |[p: option '--se' is ambiguous; possibilities: '--separate' "
           "'--set'\n]");
    expect(LONG, "q", "p --c -- --quiet", "c | --quiet");
    expect(LONG, "W;", "p -W quiet -Wsize=3 -Wnope",
           "q z=3 ?0 |[p: unrecognized option '-W nope'\n]");
    expect(LONG, "W;", "p -W",
           "?87 |[p: option requires an argument -- 'W'\n]");
}

static void
long_options_with_one_dash(void)
{
    expect(ONLY, "qz:", "p -quiet -q -size 3 -z4 -x", "q q z=3 z=4 X |");
    expect(ONLY, "q", "p -nope", "?0 |[p: unrecognized option '-nope'\n]");
    expect(ONLY, "qz:", "p -qz5", "q z=5 |");
    expect(ONLY, "q", "p --colo",
           "?0 |[p: option '--colo' is ambiguous; possibilities: '--colour' "
           "'--color'\n]");
}

int
main(void)
{
    short_options();
    long_options();
    long_options_with_one_dash();
    return 0;
}
