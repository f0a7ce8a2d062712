/* SPDX-License-Identifier: MIT */
/* iconv over GNU libiconv, with the options, messages and statuses of Debian's.
 *
 * Text is converted in large pieces. Where a conversion stops, the character
 * there is decoded alone. It is not valid, or the target does not have it; it
 * can be left out or written in other letters. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IN_BYTES = 64 << 10, OUT_BYTES = 64 << 10, USAGE = 64, NAME_MAX_ = 64 };

struct request {
    const char *from, *to, *output;
    bool drops;        /* -c */
    bool ignores;      /* //IGNORE: as -c, but the status tells */
    bool writes_alike; /* //TRANSLIT */
};

struct state {
    const struct request *q;
    iconv_t direct;  /* from the source to the target */
    iconv_t decode;  /* from the source to numbers of characters */
    iconv_t encode;  /* back, to the target */
    iconv_t similar; /* the same with libiconv's substitutes */
    int out;
    char in[IN_BYTES];
    size_t have;   /* bytes in `in` */
    uint64_t done; /* bytes of the file before it */
    bool has_ignored, needs_mark;
};

/* --- names */

/* Names that glibc knows and libiconv does not. */
static const char *const others[][2] = {
    {"UTF8", "UTF-8"},          {"UTF7", "UTF-7"},
    {"UTF16", "UTF-16"},        {"UTF16LE", "UTF-16LE"},
    {"UTF16BE", "UTF-16BE"},    {"UTF32", "UTF-32"},
    {"UTF32LE", "UTF-32LE"},    {"UTF32BE", "UTF-32BE"},
    {"UCS2", "UCS-2LE"},        {"UCS-2", "UCS-2LE"},
    {"UCS4", "UCS-4"},          {"UNICODE", "UTF-16"},
    {"MACINTOSH", "MACINTOSH"}, {"SHIFTJIS", "SHIFT_JIS"},
};

static void
find_name(const char *name, char ret[NAME_MAX_])
{
    (void)snprintf(ret, NAME_MAX_, "%s", name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcasecmp(name, others[i][0]))
            (void)snprintf(ret, NAME_MAX_, "%s", others[i][1]);
    if (!strncasecmp(name, "ISO8859", 7) && name[7])
        (void)snprintf(ret, NAME_MAX_, "ISO-8859-%s",
                       name + 7 + strspn(name + 7, "-_"));
}

static iconv_t
open_plain(const char *to, const char *from)
{
    char real_to[NAME_MAX_], real_from[NAME_MAX_];

    find_name(to, real_to);
    find_name(from, real_from);
    return iconv_open(real_to, real_from);
}

static bool
is_known(const char *name)
{
    iconv_t cd = open_plain(name, "UTF-8");

    if (cd == (iconv_t)-1)
        return false;
    iconv_close(cd);
    return true;
}

/* Little-endian behind a mark, as glibc writes them. */
static const char *
with_mark(const char *to)
{
    char name[NAME_MAX_];

    find_name(to, name);
    if (!strcasecmp(name, "UTF-16"))
        return "UTF-16LE";
    return strcasecmp(name, "UTF-32") ? NULL : "UTF-32LE";
}

/* --- writing */

static void
put(const struct state *s, const char *p, size_t len)
{
    while (len) {
        ssize_t n = write(s->out, p, len);
        if (n < 0 && errno != EINTR)
            err(1, "unable to write output");
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        }
    }
}

/* The first of the output, where there is some, is a byte order mark. */
static void
put_mark(struct state *s)
{
    static const uint32_t mark[] = {0xfeff};
    const char *from = (const char *)mark;
    char buf[8], *to = buf;
    size_t left = sizeof mark, room = sizeof buf;

    if (!s->needs_mark)
        return;
    s->needs_mark = false;
    iconv(s->encode, &from, &left, &to, &room);
    put(s, buf, (size_t)(to - buf));
}

/* Characters to the target, by one of the two ways. */
static bool
put_characters(const struct state *s, iconv_t cd, const uint32_t *text,
               size_t n)
{
    const char *from = (const char *)text;
    char buf[256], *to = buf;
    size_t left = n * sizeof *text, room = sizeof buf;

    iconv(cd, NULL, NULL, NULL, NULL);
    if (iconv(cd, &from, &left, &to, &room) == (size_t)-1)
        return false;
    iconv(cd, NULL, NULL, &to, &room);
    char reset[64], *at = reset;
    size_t rest = sizeof reset;
    iconv(s->direct, NULL, NULL, &at, &rest);
    put(s, reset, (size_t)(at - reset));
    put(s, buf, (size_t)(to - buf));
    return true;
}

/* --- characters that the target does not have */

/* Letters of U+00C0 to U+017F without what is above or below them; '.' stands
 * for those that are no such letters. */
static const char plain[] = "AAAAAA.CEEEEIIII.NOOOOO.OUUUUY..aaaaaa.ceeeeiiii"
                            ".nooooo.ouuuuy.yAaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGg"
                            "GgGgHhHhIiIiIiIiIi..JjKk.LlLlLl..LlNnNnNn...OoOo"
                            "Oo..RrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZz.";

static bool
put_alike(const struct state *s, uint32_t c)
{
    static const uint32_t mark[] = {'?'};
    uint32_t letter = c >= 0xc0 && c <= 0x17f ? (uint32_t)plain[c - 0xc0] : '.';
    static const uint32_t dashes[] = {'-', '-'};

    if (letter != '.' && put_characters(s, s->encode, &letter, 1))
        return true;
    if (c == 0x2014 && put_characters(s, s->encode, dashes, 2))
        return true;
    return put_characters(s, s->similar, &c, 1) ||
           put_characters(s, s->encode, mark, 1);
}

/* The character at p alone: its length, or 0 if it is not valid. */
static size_t
decode(const struct state *s, const char *p, size_t len, uint32_t *ret)
{
    for (size_t n = 1; n <= len && n <= 8; n++) {
        const char *from = p;
        char *to = (char *)ret;
        size_t left = n, room = sizeof *ret;
        iconv(s->decode, NULL, NULL, NULL, NULL);
        if (iconv(s->decode, &from, &left, &to, &room) != (size_t)-1)
            return room ? 0 : n;
        if (errno == EILSEQ)
            return 0;
    }
    return 0;
}

/* Handles the character at p, where the conversion stopped. Returns its bytes,
 * or 0 if the options do not allow an error there. */
static size_t
pass_over(struct state *s, const char *p, size_t len)
{
    uint32_t c;
    size_t n = decode(s, p, len, &c);

    if (n && s->q->writes_alike && put_alike(s, c))
        return n;
    if (!s->q->drops && !s->q->ignores)
        return 0;
    s->has_ignored |= !s->q->drops;
    return n ? n : 1;
}

/* --- converting */

static void
stop_at(uint64_t position)
{
    errx(1, "illegal input sequence at position %llu",
         (unsigned long long)position);
}

/* Converts what is in the buffer but for a character that is not complete. */
static void
convert(struct state *s, bool is_last)
{
    static char out[OUT_BYTES];
    const char *in = s->in;
    size_t left = s->have;

    while (left) {
        char *to = out;
        size_t room = sizeof out;
        size_t r = iconv(s->direct, &in, &left, &to, &room);
        int error = r == (size_t)-1 ? errno : 0;
        put_mark(s);
        put(s, out, (size_t)(to - out));
        if (error == EINVAL && (!is_last || s->q->drops || s->q->ignores))
            break;
        if (error == EINVAL)
            errx(1, "incomplete character or shift sequence at end of buffer");
        if (error != EILSEQ)
            continue;
        size_t n = pass_over(s, in, left);
        if (!n)
            stop_at(s->done + (uint64_t)(in - s->in));
        in += n;
        left -= n;
    }
    s->done += s->have - left;
    memmove(s->in, in, left);
    s->have = left;
}

static void
convert_file(struct state *s, int fd, const char *name)
{
    ssize_t n;

    s->have = 0;
    s->done = 0;
    while ((n = read(fd, s->in + s->have, IN_BYTES - s->have)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            err(1, "unable to read input file `%s'", name);
        s->have += (size_t)n;
        convert(s, false);
    }
    convert(s, true);
}

static void
finish(struct state *s)
{
    char out[64], *to = out;
    size_t room = sizeof out;

    iconv(s->direct, NULL, NULL, &to, &room);
    put(s, out, (size_t)(to - out));
    if (s->has_ignored)
        stop_at(s->done);
}

/* --- the command line */

static const struct option options[] = {
    {"from-code", required_argument, NULL, 'f'},
    {"to-code", required_argument, NULL, 't'},
    {"list", no_argument, NULL, 'l'},
    {"output", required_argument, NULL, 'o'},
    {"silent", no_argument, NULL, 's'},
    {"verbose", no_argument, NULL, 'v'},
    {"usage", no_argument, NULL, 'h'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {0},
};

static const char help[] =
    "Usage: iconv [OPTION...] [FILE...]\n"
    "Convert encoding of given files from one encoding to another.\n\n"
    "  -f, --from-code=NAME  encoding of original text\n"
    "  -t, --to-code=NAME    encoding for output; NAME//TRANSLIT, "
    "NAME//IGNORE\n"
    "  -l, --list            list all known coded character sets\n"
    "  -c                    omit invalid characters from output\n"
    "  -o, --output=FILE     output file\n"
    "  -s, --silent          suppress warnings\n"
    "      --verbose         print progress information\n"
    "      --help, --version\n";

static int
list_names(unsigned n, const char *const *names, void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < n; i++)
        printf("%s//\n", names[i]);
    return 0;
}

static void
parse(struct request *q, int argc, char **argv)
{
    int c;

    while ((c = getopt_long(argc, argv, "f:t:lco:sv", options, NULL)) != -1) {
        switch (c) {
        case 'f':
            q->from = optarg;
            break;
        case 't':
            q->to = optarg;
            break;
        case 'l':
            iconvlist(list_names, NULL);
            exit(0);
        case 'c':
            q->drops = true;
            break;
        case 'o':
            q->output = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            exit(0);
        case 'V':
            printf("iconv of the sandbox, with GNU libiconv %d.%d\n",
                   _libiconv_version >> 8, _libiconv_version & 0xff);
            exit(0);
        case '?':
            fputs("Try `iconv --help' or `iconv --usage' for more "
                  "information.\n",
                  stderr);
            exit(USAGE);
        default:
            break;
        }
    }
}

/* Cuts //IGNORE and //TRANSLIT off; what is left, where it is empty, is the
 * locale's. */
static const char *
take_suffixes(struct request *q, const char *name)
{
    char *copy = strdup(name), *suffix = copy ? strstr(copy, "//") : NULL;

    if (!copy)
        err(1, NULL);
    if (suffix) {
        q->writes_alike |= strcasestr(suffix, "TRANSLIT") != NULL;
        q->ignores |= strcasestr(suffix, "IGNORE") != NULL;
        *suffix = 0;
    }
    return *copy ? copy : nl_langinfo(CODESET);
}

static void
check_names(const struct request *q)
{
    bool from = is_known(q->from), to = is_known(q->to);

    if (!from && !to)
        errx(1, "conversions from `%s' and to `%s' are not supported", q->from,
             q->to);
    if (!from)
        errx(1, "conversion from `%s' is not supported", q->from);
    if (!to)
        errx(1, "conversion to `%s' is not supported", q->to);
}

static void
open_state(struct state *s)
{
    const char *marked = with_mark(s->q->to), *to = marked ? marked : s->q->to;
    char similar[NAME_MAX_ + 16], real[NAME_MAX_];

    find_name(to, real);
    (void)snprintf(similar, sizeof similar, "%s//TRANSLIT", real);
    s->direct = open_plain(to, s->q->from);
    s->decode = open_plain("UCS-4-INTERNAL", s->q->from);
    s->encode = open_plain(to, "UCS-4-INTERNAL");
    s->similar = iconv_open(similar, "UCS-4-INTERNAL");
    if (s->direct == (iconv_t)-1 || s->decode == (iconv_t)-1 ||
        s->encode == (iconv_t)-1 || s->similar == (iconv_t)-1)
        err(1, "failed to start conversion processing");
    if (s->q->output) {
        s->out = open(s->q->output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (s->out < 0)
            err(1, "unable to open output file");
    }
    s->needs_mark = marked != NULL;
}

int
main(int argc, char **argv)
{
    static struct state s = {.out = 1};
    struct request q = {.from = "", .to = ""};
    int status = 0;

    setlocale(LC_ALL, "");
    parse(&q, argc, argv);
    q.from = take_suffixes(&q, q.from);
    q.ignores = q.writes_alike = false; /* they are for the target */
    q.to = take_suffixes(&q, q.to);
    check_names(&q);
    s.q = &q;
    open_state(&s);
    if (optind == argc)
        convert_file(&s, 0, "-");
    for (; optind < argc; optind++) {
        const char *name = argv[optind];
        int fd = strcmp(name, "-") ? open(name, O_RDONLY) : 0;
        if (fd < 0) {
            warn("cannot open input file `%s'", name);
            status = 1;
            continue;
        }
        convert_file(&s, fd, name);
        if (fd)
            close(fd);
    }
    finish(&s);
    return status;
}
