/* wasmsand-v86: an i386 Linux computer as a sandbox. wasm-sandbox becomes this
 * program for `--mode v86`, with its own options. The supervisor starts it with
 * the word `worker`. */
#include "base/exit.h"
#include "base/hfd.h"
#include "base/parse.h"
#include "v86/server.h"
#include "wire/log.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { RAM_MB = 64, DISK_MB = 256, BOOT_TIMEOUT_MS = 60000 };
static const struct option options[] = {
    {"mode", required_argument, NULL, 'm'},
    {"disk-image", required_argument, NULL, 'd'},
    {"memory-limit", required_argument, NULL, 'M'},
    {"disk-limit", required_argument, NULL, 'D'},
    {"disk-overlay", required_argument, NULL, 'o'},
    {"boot-timeout-ms", required_argument, NULL, 'b'},
    {"timeout-ms", required_argument, NULL, 't'},
    {"jit", required_argument, NULL, 'j'},
    {0},
};

/* Returns the number, or 0 after reporting an error. */
static int64_t
main_number(const char *option, const char *arg, int64_t min, int64_t max)
{
    char *end;

    errno = 0;
    long long n = strtoll(arg, &end, 10);
    if (!errno && end != arg && !*end && n >= min && n <= max)
        return n;
    text_logf("wasm-sandbox: --%s in mode v86 must be a number from %lld to "
              "%lld, not '%s'",
              option, (long long)min, (long long)max, arg);
    return 0;
}

static bool
main_parse_jit(struct v86_options *o, const char *arg)
{
    o->zygote.pump.has_jit = !strcmp(arg, "on");
    if (o->zygote.pump.has_jit || !strcmp(arg, "off"))
        return true;
    text_logf("wasm-sandbox: --jit: '%s' is neither on nor off", arg);
    return false;
}

/* Returns false after reporting an error. */
static bool
main_parse_option(struct v86_options *o, int c, const char *arg)
{
    int64_t n = 1;

    switch (c) {
    case 'd':
        o->zygote.image = arg;
        break;
    case 'M':
        n = main_number("memory-limit", arg, V86_RAM_MB_MIN, V86_RAM_MB_MAX);
        o->zygote.pump.ram_bytes = (uint32_t)n << 20;
        break;
    case 'D':
        n = main_number("disk-limit", arg, V86_DISK_MB_MIN, 1 << 20);
        o->zygote.overlay_bytes = (uint64_t)n << 20;
        break;
    case 'o':
        o->overlay = arg;
        break;
    case 'b':
        n = main_number("boot-timeout-ms", arg, 1, INT32_MAX);
        o->zygote.pump.boot_timeout_ms = n;
        break;
    case 't':
        n = main_number("timeout-ms", arg, 1, INT32_MAX);
        o->timeout_ms = n;
        break;
    case 'j':
        return main_parse_jit(o, arg);
    default:
        break;
    }
    return n;
}

static bool
main_parse(struct v86_options *o, int argc, char **argv)
{
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
        if (c == ':' || c == '?') {
            text_logf("wasm-sandbox: %s: %s", argv[optind - 1],
                      c == ':' ? "needs a value" : "not in mode v86");
            return false;
        }
        if (!main_parse_option(o, c, optarg))
            return false;
    }
    if (optind < argc) {
        text_logf("wasm-sandbox: unexpected '%s'", argv[optind]);
        return false;
    }
    if (!o->zygote.image)
        text_logf("wasm-sandbox: --mode v86 needs --disk-image FILE; `make "
                  "v86-image` builds one");
    return o->zygote.image;
}

int
main(int argc, char **argv)
{
    struct v86_options o = {
        .zygote = {.overlay_bytes = (uint64_t)DISK_MB << 20,
                   .pump = {.ram_bytes = RAM_MB << 20,
                            .boot_timeout_ms = BOOT_TIMEOUT_MS,
                            .has_jit = true}},
    };

    if (!hfd_fill_standard())
        return EXIT_CANNOT;
    o.is_worker = argc > 1 && !strcmp(argv[1], "worker");
    if (!main_parse(&o, argc - o.is_worker, argv + o.is_worker))
        return EXIT_USAGE;
    (void)signal(SIGPIPE, SIG_IGN);
    return v86_serve(&o);
}
