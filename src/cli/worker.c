/* wasm-sandbox worker: the process that the supervisor starts for a session.
 * The server with one sandbox, which seals itself before it reads any request
 * (rpc/worker.h, seal/seal.h). */
#include "cli/cli.h"

#include "rpc/server.h"
#include "seal/seal.h"

#include <ctype.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STATE_HFD = 3, NETWORK_HFD = 4, HASH_BYTES = 32 };

static const struct option options[] = {
    {"root", required_argument, NULL, 'r'},
    {"image-hash", required_argument, NULL, 'i'},
    {"compile", no_argument, NULL, 'c'},
    {"checked-code", required_argument, NULL, 'k'},
    {"unsealed", no_argument, NULL, 'u'},
    {0},
};

/* The options of a worker. */
struct working {
    struct server_options o;
    struct worker_options w;
    char root[ROOT_PATH_BYTES];
    uint8_t hash[HASH_BYTES];
};

/* Parses the hash of the root image, in hexadecimal. Trusted: the supervisor
 * computed it. */
static bool
worker_parse_hash(struct working *w, const char *arg)
{
    for (size_t i = 0; i < HASH_BYTES; i++, arg += 2) {
        unsigned byte;
        if (!isxdigit((unsigned char)arg[0]) ||
            !isxdigit((unsigned char)arg[1]) || sscanf(arg, "%2x", &byte) != 1)
            return false;
        w->hash[i] = (uint8_t)byte;
    }
    w->w.root_image_hash = w->hash;
    return !*arg;
}

/* The supervisor has checked the owner of this code, which the worker cannot do
 * in its user namespace. */
static void
worker_take_checked_code(struct working *w, const char *dir)
{
    w->o.shipped_dir = dir;
    w->w.shipped_is_checked = true;
}

/* --unsealed is for tests. A worker with a compiler has a seal of its own. */
static bool
worker_parse(struct working *w, int argc, char **argv)
{
    int c;

    optind = 1;
    while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
        if (c == 'r')
            w->o.root_image = optarg;
        else if (c == 'u')
            w->w.seal = NULL;
        else if (c == 'c')
            w->w.keeps_compiler = true;
        else if (c == 'k')
            worker_take_checked_code(w, optarg);
        else if (c != 'i' || !worker_parse_hash(w, optarg))
            return false;
    }
    if (w->w.keeps_compiler && w->w.seal)
        w->w.seal = seal_with_compiler;
    return optind == argc;
}

/* Descriptor 3 is the socket for records; it must exist, and must not be
 * inherited by the compiler. Descriptor 4 is the socket of the broker; without
 * it, the session has no network. */
int
cmd_worker(int argc, char **argv)
{
    static struct working w;

    w.w = (struct worker_options){.state_hfd = STATE_HFD, .seal = seal};
    w.o = (struct server_options){.shipped_dir = beside_find_code(),
                                  .log_level = LOG_WARN,
                                  .worker = &w.w};
    if (!worker_parse(&w, argc, argv)) {
        complain("worker: wrong options; it is started by the supervisor");
        return EXIT_USAGE;
    }
    if (fcntl(STATE_HFD, F_SETFD, FD_CLOEXEC) < 0) {
        complain("worker: descriptor %d is not open; the supervisor starts "
                 "workers",
                 STATE_HFD);
        return EXIT_USAGE;
    }
    if (fcntl(NETWORK_HFD, F_SETFD, FD_CLOEXEC) == 0)
        w.w.network_hfd = NETWORK_HFD;
    if (!w.o.root_image && beside_find_root(w.root, sizeof w.root))
        w.o.root_image = w.root;
    if (!w.o.root_image) {
        complain("worker: no root image");
        return EXIT_USAGE;
    }
    return server_main(&w.o, STDIN_FILENO, STDOUT_FILENO);
}
