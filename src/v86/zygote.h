/* The zygote: a process with a machine that has booted and does not run. Each
 * new machine is a fork of it, which shares its memory until one of the two
 * changes it. A machine that runs can be forked in the same way, into one that
 * runs or into one that waits like the zygote: that is a snapshot. */
#ifndef V86_ZYGOTE_H
#define V86_ZYGOTE_H

#include "v86/pump.h"

#include <sys/types.h>

struct zygote_options {
    const char *image;
    uint64_t overlay_bytes; /* the maximum of the disk's overlay */
    struct pump_options pump;
};

struct zygote {
    pid_t pid;
    int control;
};

/* A forked machine. */
struct zygote_child {
    int hfd;     /* the stream of its agent; -1: it waits */
    int control; /* for zygote_fork */
    int pidfd;   /* readable when it has ended */
    pid_t pid;
};

#define ZYGOTE_NO_CHILD ((struct zygote_child){-1, -1, -1, 0})

/* Opens the image. Returns 0, or -errno with a text that follows its name. */
int zygote_open(const struct zygote_options *o, OWN struct disk **ret,
                char error[PUMP_ERROR_BYTES]);
/* Boots from a copy of the disk in a new process, and waits for it. Returns 0,
 * or -errno with a text. */
int zygote_start(struct zygote *z, struct disk *disk,
                 const struct zygote_options *o, char error[PUMP_ERROR_BYTES]);
void zygote_stop(struct zygote *z);

/* Requests to the process of a machine. */
enum zygote_request {
    ZYGOTE_FORK_WAITING,
    ZYGOTE_FORK_RUNNING,
    ZYGOTE_DIRTY_BLOCKS, /* blocks that have changed since the last request */
    ZYGOTE_ALL_BLOCKS,   /* all that differ from the image */
};

/* Sends a request to the machine behind the socket `control`. A zygote answers
 * at once; a machine that runs does when no bytes of its agent are on their
 * way, so its stream must be read meanwhile. Return 0 or -errno. */
int zygote_request(int control, enum zygote_request request);
int zygote_receive(int control, bool runs, struct zygote_child *ret);

/* A block of the disk in an answer. */
struct zygote_block {
    uint64_t number;    /* ZYGOTE_NO_BLOCK: the end of the answer */
    uint64_t has_bytes; /* 0: it has the contents of the image again */
    uint8_t bytes[DISK_BLOCK_BYTES];
};
#define ZYGOTE_NO_BLOCK UINT64_MAX

/* Returns 1, 0 if no block has arrived, or -EIO. */
int zygote_receive_block(int control, struct zygote_block *ret);
/* Ends a machine at once. */
void zygote_kill(struct zygote_child *c);

#endif
