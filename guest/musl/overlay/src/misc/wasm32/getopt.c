/* SPDX-License-Identifier: MIT */
/* getopt and getopt_long as GNU's: operands between options move behind them,
 * an abbreviation is ambiguous only if its meanings differ, and the messages
 * are in GNU's words. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libc.h"

/* The treatment of an operand that stands before the last option. */
enum order { MOVES, ENDS, IS_OPTION };

struct command {
    int argc;
    char **argv;
    const char *shorts; /* without + or - */
    const struct option *longs;
    int *ret_index;
    int only;  /* long options may begin with one dash */
    int quiet; /* no messages */
};

char *optarg;
int optind = 1, opterr = 1, optopt, __optreset;
weak_alias(__optreset, optreset);

static int started;
static char *next;      /* the rest of a word of short options */
static int first, last; /* operands found so far: [first, last) */
static enum order order;

static int
is_operand(const char *word)
{
    return word[0] != '-' || !word[1];
}

static void
reverse(char **words, int from, int to)
{
    for (; from < --to; from++) {
        char *word = words[from];
        words[from] = words[to];
        words[to] = word;
    }
}

/* The operands [first, last) change places with [last, optind). */
static void
exchange(char **argv)
{
    reverse(argv, first, last);
    reverse(argv, last, optind);
    reverse(argv, first, optind);
    first += optind - last;
    last = optind;
}

static void
gather(char **argv)
{
    if (first != last && last != optind)
        exchange(argv);
    else if (first == last)
        first = optind;
}

static enum order
order_of(const char *options, int posix)
{
    if (*options == '-')
        return IS_OPTION;
    if (*options == '+' || posix || getenv("POSIXLY_CORRECT"))
        return ENDS;
    return MOVES;
}

static void
begin(const char *options, int posix)
{
    if (started && optind && !__optreset)
        return;
    if (!optind || __optreset)
        optind = 1;
    __optreset = 0;
    first = last = optind;
    next = NULL;
    order = order_of(options, posix);
    started = 1;
}

/* Goes to the next word with an option. 0: there is one, else the answer. */
static int
find_option(const struct command *c)
{
    char **argv = c->argv;

    if (last > optind)
        last = optind;
    if (first > optind)
        first = optind;
    if (order == MOVES) {
        gather(argv);
        while (optind < c->argc && is_operand(argv[optind]))
            optind++;
        last = optind;
    }
    if (optind < c->argc && !strcmp(argv[optind], "--")) {
        optind++;
        gather(argv);
        optind = last = c->argc;
    }
    if (optind >= c->argc) {
        if (first != last)
            optind = first;
        return -1;
    }
    if (!is_operand(argv[optind]))
        return 0;
    if (order == ENDS)
        return -1;
    optarg = argv[optind++];
    return 1;
}

static int
same_meaning(const struct option *a, const struct option *b)
{
    return a->has_arg == b->has_arg && a->flag == b->flag && a->val == b->val;
}

/* Is `o` one of the options that `name` may stand for? */
static int
is_candidate(const struct command *c, const struct option *o, const char *name,
             size_t len, const struct option *found)
{
    if (strncmp(o->name, name, len))
        return 0;
    return o == found || c->only || !same_meaning(o, found);
}

/* The option that a name means, or NULL; *ret_many if it could mean several,
 * of which the result is the first. */
static const struct option *
find_long(const struct command *c, const char *name, size_t len, int *ret_many)
{
    const struct option *o, *found = NULL;

    *ret_many = 0;
    for (o = c->longs; o->name; o++)
        if (!strncmp(o->name, name, len) && !o->name[len])
            return o;
    for (o = c->longs; o->name; o++) {
        if (strncmp(o->name, name, len))
            continue;
        if (!found)
            found = o;
        else if (is_candidate(c, o, name, len, found))
            *ret_many = 1;
    }
    return found;
}

static int
complain_of_many(const struct command *c, const char *dash, const char *name,
                 size_t len, const struct option *found)
{
    const struct option *o;

    optind++;
    optopt = 0;
    if (c->quiet)
        return '?';
    flockfile(stderr);
    fprintf(stderr,
            "%s: option '%s%s' is ambiguous; possibilities:", c->argv[0], dash,
            name);
    for (o = found; o->name; o++)
        if (is_candidate(c, o, name, len, found))
            fprintf(stderr, " '%s%s'", dash, o->name);
    putc('\n', stderr);
    funlockfile(stderr);
    return '?';
}

/* Takes the argument of a long option, `end` being what follows its name. */
static int
take_long_argument(const struct command *c, const struct option *o,
                   const char *dash, char *end)
{
    if (*end && o->has_arg) {
        optarg = end + 1;
    } else if (*end) {
        optopt = o->val;
        if (!c->quiet)
            fprintf(stderr, "%s: option '%s%s' doesn't allow an argument\n",
                    c->argv[0], dash, o->name);
        return '?';
    } else if (o->has_arg == required_argument) {
        if (optind < c->argc) {
            optarg = c->argv[optind++];
            return 0;
        }
        optopt = o->val;
        if (!c->quiet)
            fprintf(stderr, "%s: option '%s%s' requires an argument\n",
                    c->argv[0], dash, o->name);
        return c->shorts[0] == ':' ? ':' : '?';
    }
    return 0;
}

/* The long option `name`, whose word ends before optind after this. -1: it may
 * be a short one. */
static int
long_option(const struct command *c, char *name, const char *dash)
{
    size_t len = strcspn(name, "=");
    int many, r;
    const struct option *o = find_long(c, name, len, &many);

    if (many)
        return complain_of_many(c, dash, name, len, o);
    if (!o) {
        if (c->only && dash[1] != '-' && strchr(c->shorts, *name))
            return -1;
        if (!c->quiet)
            fprintf(stderr, "%s: unrecognized option '%s%s'\n", c->argv[0],
                    dash, name);
        optind++;
        optopt = 0;
        return '?';
    }
    optind++;
    r = take_long_argument(c, o, dash, name + len);
    if (r)
        return r;
    if (c->ret_index)
        *c->ret_index = o - c->longs;
    if (!o->flag)
        return o->val;
    *o->flag = o->val;
    return 0;
}

static int
missing_argument(const struct command *c, int ch)
{
    if (!c->quiet)
        fprintf(stderr, "%s: option requires an argument -- '%c'\n", c->argv[0],
                ch);
    optopt = ch;
    return c->shorts[0] == ':' ? ':' : '?';
}

/* After a short option: its argument, the rest of the word or the next one. */
static int
take_argument(const struct command *c, int ch, int optional)
{
    char *rest = next;

    next = NULL;
    if (*rest) {
        optarg = rest;
        optind++;
    } else if (!optional) {
        if (optind >= c->argc)
            return missing_argument(c, ch);
        optarg = c->argv[optind++];
    }
    return ch;
}

/* -W NAME: the long option NAME. */
static int
long_by_w(const struct command *c)
{
    struct command w = *c;
    char *name;
    int r = take_argument(c, 'W', 0);

    if (r != 'W')
        return r;
    name = optarg;
    optarg = NULL;
    optind--;
    w.only = 0;
    return long_option(&w, name, "-W ");
}

static int
short_option(const struct command *c)
{
    char ch = *next++;
    const char *spec = strchr(c->shorts, ch);

    if (!*next)
        optind++;
    if (!spec || ch == ':' || ch == ';') {
        if (!c->quiet)
            fprintf(stderr, "%s: invalid option -- '%c'\n", c->argv[0], ch);
        optopt = ch;
        return '?';
    }
    if (ch == 'W' && spec[1] == ';' && c->longs)
        return long_by_w(c);
    return spec[1] == ':' ? take_argument(c, ch, spec[2] == ':') : ch;
}

static int
get_option(struct command *c, int posix)
{
    char *word;
    int r;

    optarg = NULL;
    if (c->argc < 1)
        return -1;
    begin(c->shorts, posix);
    c->shorts += *c->shorts == '-' || *c->shorts == '+';
    c->quiet = !opterr || *c->shorts == ':';
    if (next && *next)
        return short_option(c);

    r = find_option(c);
    if (r)
        return r;
    word = c->argv[optind];
    if (c->longs && word[1] == '-')
        return long_option(c, word + 2, "--");
    if (c->longs && c->only && (word[2] || !strchr(c->shorts, word[1]))) {
        r = long_option(c, word + 1, "-");
        if (r != -1)
            return r;
    }
    next = word + 1;
    return short_option(c);
}

int
getopt(int argc, char *const argv[], const char *options)
{
    struct command c = {.argc = argc, .argv = (char **)argv, .shorts = options};

    return get_option(&c, 0);
}

int
__posix_getopt(int argc, char *const argv[], const char *options)
{
    struct command c = {.argc = argc, .argv = (char **)argv, .shorts = options};

    return get_option(&c, 1);
}

int
getopt_long(int argc, char *const *argv, const char *options,
            const struct option *longs, int *ret_index)
{
    struct command c = {argc, (char **)argv, options, longs, ret_index, 0, 0};

    return get_option(&c, 0);
}

int
getopt_long_only(int argc, char *const *argv, const char *options,
                 const struct option *longs, int *ret_index)
{
    struct command c = {argc, (char **)argv, options, longs, ret_index, 1, 0};

    return get_option(&c, 0);
}
