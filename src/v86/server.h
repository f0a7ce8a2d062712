/* The server of `--mode v86` on standard input and output: both JSON protocols,
 * with machines behind them.
 *
 * It has one thread. Requests to a sandbox are served one after the other, in
 * order, but for AT_ONCE ones; those to different sandboxes are served at the
 * same time. */
#ifndef V86_SERVER_H
#define V86_SERVER_H

#include "v86/save.h"
#include "wire/frame.h"
#include "wire/outbox.h"
#include "wire/peer.h"
#include "wire/stream.h"

enum {
    V86_TIMEOUT_MS = 30000,
    V86_LINE_TIMEOUT_MS = 5000,
    V86_STDIO_BYTES = 1 << 20, /* of output in an answer */
};

/* Sizes of the RAM, and of the overlay of the disk: a smaller one has no space
 * for the tables of the file system. */
enum { V86_RAM_MB_MIN = 40, V86_RAM_MB_MAX = 1024, V86_DISK_MB_MIN = 16 };

struct v86_sandbox;

struct v86_options {
    struct zygote_options zygote;
    const char *overlay; /* the file that keeps changes; NULL: none */
    int64_t timeout_ms;  /* of commands; 0: the defaults */
    bool is_worker;      /* of the supervisor: see worker.h */
};

struct v86_server {
    struct zygote_options options;
    struct disk *disk; /* as the zygote has booted it */
    uint64_t disk_bytes;
    struct zygote zygote;
    struct v86_saver saver; /* of the root sandbox */
    struct zygote_block block;
    uint64_t ram_bytes;
    int64_t started_ns;
    int64_t timeout_ms; /* of commands; 0: the defaults */
    bool is_created;    /* `create` or a request of the line protocol came */
    bool is_ending;     /* `kill` came, or there is no machine */
    struct peer peer;
    struct frame in;
    struct outbox out;
    struct v86_sandbox *root;
    struct list sandboxes; /* all others */
    size_t n_sandboxes;
    uint64_t last_id;
};

/* Returns the exit status of the program. */
int v86_serve(const struct v86_options *o);
/* Boots the disk in a new zygote, which replaces the current one, like the disk
 * that of the server. Returns 0, or -errno after reporting the reason. */
int v86_server_boot(struct v86_server *s, OWN struct disk *d);

/* Returns a sandbox by its id, or NULL. */
struct v86_sandbox *v86_server_find(struct v86_server *s, const char *id);

#endif
