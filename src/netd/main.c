/* wasmsand-netd: the broker, a program of its own.
 *
 * The library starts it with the two sockets of net/message.h as descriptors 0
 * and 1. An argument --resolvers=LIST names the name servers. It reads the
 * host's configuration of the resolver, gives up all rights that it does not
 * need, and serves until its sandbox is gone. */
#include "base/exit.h"
#include "base/own.h"
#include "netd/broker.h"
#include "seal/landlock.h"
#include "seal/privileges.h"
#include "seal/rows.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SEND_TIMEOUT_S = 5,
    FILES_MAX = 4096, /* a copy of each connection, and attempts */
};

static const struct seccomp_rule broker_rows[] = {
#include "netd/calls.def"
};
static const struct seccomp_policy broker_calls = POLICY(broker_rows, EPERM);

/* A sandbox that does not read its answers must not keep the broker from the
 * next policy for ever. */
static int
main_limit_sends(void)
{
    const struct timeval limit = {.tv_sec = SEND_TIMEOUT_S};

    return setsockopt(MESSAGE_REQUESTS_HFD, SOL_SOCKET, SO_SNDTIMEO, &limit,
                      sizeof limit) < 0
               ? -errno
               : 0;
}

static int
main_seal(void)
{
    static const char *const nothing[] = {NULL};

    privileges_lower_rlimit(RLIMIT_CORE, 0);
    privileges_lower_rlimit(RLIMIT_FSIZE, 0);
    privileges_lower_rlimit(RLIMIT_NPROC, 0);
    privileges_lower_rlimit(RLIMIT_NOFILE, FILES_MAX);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return -errno;
    int r = privileges_drop();
    if (r == 0)
        r = landlock_restrict(nothing);
    return r == 0 ? seccomp_load(&broker_calls) : r;
}

/* Returns the list of an argument --resolvers=LIST, or NULL. */
static const char *
main_resolvers(int argc, char **argv)
{
    static const char option[] = "--resolvers=";

    if (argc != 2 || strncmp(argv[1], option, sizeof option - 1) != 0)
        return NULL;
    return argv[1] + sizeof option - 1;
}

int
main(int argc, char **argv)
{
    const char *resolvers = main_resolvers(argc, argv);
    struct broker b;

    if (argc > 2 || (argc == 2 && !resolvers)) {
        (void)fputs("wasmsand-netd is started by wasm-sandbox\n", stderr);
        return EXIT_USAGE;
    }
    int r = main_limit_sends();
    if (r == 0)
        r = broker_init(&b, MESSAGE_REQUESTS_HFD, MESSAGE_POLICY_HFD,
                        resolvers);
    if (r == 0)
        r = main_seal();
    if (r < 0) {
        (void)fprintf(stderr, "wasmsand-netd: %s\n", strerror(-r));
        return EXIT_CANNOT;
    }
    broker_run(&b);
    broker_end_connections(&b);
    _exit(b.is_idle ? MESSAGE_EXIT_IDLE : 0); /* the kernel frees everything */
}
