/* Files that the host creates: the destination of a command's output, and the
 * source of its input. */
#ifndef KERNEL_CAPTURE_H
#define KERNEL_CAPTURE_H

#include "base/own.h"
#include "kernel/wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct kernel;
struct task;

/* The bytes written to a file, up to a limit. Further bytes are counted and
 * discarded, so that a command with too much output continues. */
struct capture {
    uint32_t refs;
    char *data;
    /* Bytes kept, allocated, and the limit of the first. */
    size_t len, cap, max;
    /* If not 0, the first `head` bytes are kept, and the newest ones after
     * them. */
    size_t head;
    /* The oldest byte of the ring behind the head, once the capture is full. */
    size_t oldest;
    uint64_t dropped;      /* bytes beyond max */
    struct capture *later; /* destination after streams_close, or NULL */
    bool is_ring;          /* keeps the newest bytes instead of the oldest */
    bool is_tap;           /* keeps nothing, only calls on_bytes */
    /* Receives all bytes as they are written, whether they are kept or not. */
    void (*on_bytes)(void *arg, const char *p, size_t len);
    /* Returns the number of bytes that may be written now. At 0, writers wait
     * until capture_wake. NULL accepts any number. */
    size_t (*window)(void *arg);
    void *arg;
    struct waitq writable;
};

/* With is_ring, the newest `max` bytes are kept. NULL: no memory. */
OWN struct capture *capture_new(size_t max, bool is_ring);
void capture_put(OWN struct capture *c); /* accepts NULL */
/* Makes waiting writers ask for the window again. */
void capture_wake(struct capture *c);
/* Like a write to its file, regardless of the window. */
void capture_add(struct capture *c, const char *p, size_t len);
/* Returns the bytes, which the caller frees, or NULL and 0. With `head`,
 * dropped bytes are missing after that many bytes. */
OWN char *capture_take(struct capture *c, size_t *ret_len);

/* Opens a file that writes to c. */
int capture_open(struct kernel *k, struct capture *c, OWN struct file **ret);
/* Opens a file for reading, over a copy of the bytes. */
int capture_input_open(struct kernel *k, const void *data, size_t len,
                       OWN struct file **ret);

/* The captured streams of a task that runs one command after the other. */
struct streams {
    OWN struct capture *out, *err; /* of the last command, or NULL */
};

/* The standard streams of one command. */
struct streams_options {
    const void *input; /* bytes of standard input, which are copied */
    size_t input_len;
    size_t out_max, err_max; /* bytes that are kept */
    /* Half of these are kept for the newest bytes, beyond the limit. */
    bool keep_ends;
    bool merge; /* standard error goes to `out` */
};

/* Gives t the standard streams of its next command. On failure there are none:
 * -ENOMEM, -ENFILE. */
int streams_open(struct streams *s, struct task *t,
                 const struct streams_options *o);
/* Ends the capture of a command. Output that its processes still write goes to
 * `later`, which must exist as long as s. */
void streams_close(struct streams *s, struct capture *later);
void streams_fini(struct streams *s);

#endif
