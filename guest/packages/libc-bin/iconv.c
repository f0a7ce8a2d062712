/* SPDX-License-Identifier: MIT */
/* iconv [-c] [-f FROM] [-t TO] [-o OUT] [FILE...]: convert to another encoding
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option options[] = {
    {"from-code", required_argument, NULL, 'f'},
    {"to-code", required_argument, NULL, 't'},
    {"output", required_argument, NULL, 'o'},
    {"list", no_argument, NULL, 'l'},
    {"silent", no_argument, NULL, 's'},
    {0},
};

static const char names[] =
    "ASCII\nBIG5\nCP437\nCP850\nCP866\nEUC-JP\nEUC-KR\nEUC-"
    "TW\nGB18030\nGB2312\n"
    "GBK\nISO-2022-JP\nISO-8859-1\nISO-8859-2\nISO-8859-5\nISO-8859-7\n"
    "ISO-8859-9\nISO-8859-15\nKOI8-R\nKOI8-U\nLATIN1\nSHIFT_JIS\nUCS-2\n"
    "UCS-2BE\nUCS-2LE\nUCS-4\nUTF-16\nUTF-16BE\nUTF-16LE\nUTF-32\nUTF-32BE\n"
    "UTF-32LE\nUTF-8\nWINDOWS-1250\nWINDOWS-1251\nWINDOWS-1252\n";

static int skip_bad, failed;
static size_t position;

/* Converts what it can of in[0..*have), and leaves the rest at its start. */
static void
convert(iconv_t cd, char *in, size_t *have, int last)
{
    static char out[1 << 16];
    char *from = in;

    while (*have) {
        char *to = out;
        size_t room = sizeof out;
        size_t before = *have;
        size_t r = iconv(cd, &from, have, &to, &room);
        int why = errno;

        position += before - *have;
        if (fwrite(out, 1, (size_t)(to - out), stdout) != (size_t)(to - out))
            err(1, "write error");
        if (r != (size_t)-1 || why == E2BIG)
            continue;
        if (why == EINVAL && !last)
            break;
        if (why == EINVAL)
            errx(1, "incomplete character or shift sequence at end of buffer");
        failed = 1;
        if (!skip_bad) {
            fflush(stdout);
            errx(1, "illegal input sequence at position %zu", position);
        }
        from++;
        position++;
        --*have;
    }
    memmove(in, from, *have);
}

static void
convert_file(iconv_t cd, const char *name)
{
    static char in[1 << 16];
    int fd = strcmp(name, "-") ? open(name, O_RDONLY) : 0;
    size_t have = 0;
    ssize_t n;

    if (fd < 0)
        err(1, "cannot open input file `%s'", name);
    position = 0;
    while ((n = read(fd, in + have, sizeof in - have)) > 0) {
        have += (size_t)n;
        convert(cd, in, &have, 0);
    }
    if (n < 0)
        err(1, "unable to read `%s'", name);
    convert(cd, in, &have, 1);
    if (fd)
        close(fd);
}

/* //TRANSLIT and //IGNORE are glibc's; the latter is -c. */
static char *
plain_name(const char *name)
{
    char *copy = strdup(name);
    char *end = strstr(copy, "//");

    if (end) {
        skip_bad |= strstr(end, "IGNORE") != NULL;
        *end = '\0';
    }
    return copy;
}

int
main(int argc, char **argv)
{
    const char *from, *to;
    int c;

    setlocale(LC_ALL, "");
    from = to = nl_langinfo(CODESET);
    while ((c = getopt_long(argc, argv, "cf:t:o:ls", options, NULL)) != -1) {
        switch (c) {
        case 'c':
            skip_bad = 1;
            break;
        case 'f':
            from = plain_name(optarg);
            break;
        case 't':
            to = plain_name(optarg);
            break;
        case 'o':
            if (!freopen(optarg, "w", stdout))
                err(1, "unable to open output file");
            break;
        case 'l':
            return fputs(names, stdout) < 0;
        case 's':
            break;
        default:
            return 64;
        }
    }
    iconv_t cd = iconv_open(to, from);
    if (cd == (iconv_t)-1)
        errx(1, "conversion from `%s' to `%s' is not supported", from, to);
    if (optind == argc)
        convert_file(cd, "-");
    while (optind < argc)
        convert_file(cd, argv[optind++]);
    if (fflush(stdout))
        err(1, "write error");
    return failed;
}
