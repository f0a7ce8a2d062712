/* Files of the host's making: where the output of a command goes, and where
 * its input comes from. */
#ifndef KERNEL_CAPTURE_H
#define KERNEL_CAPTURE_H

#include "base/own.h"
#include "kernel/wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct kernel;

/* What was written to a file, up to a limit; the rest is counted and thrown
 * away, so that a command that prints too much runs on. */
struct capture {
    uint32_t refs;
    char *data;
    size_t len, cap, max;
    size_t head;           /* not 0: keeps the first `head` and the newest */
    size_t oldest;         /* then, when it is full: where, behind the head */
    uint64_t dropped;      /* bytes past max */
    struct capture *later; /* where writes go after capture_close, or NULL */
    bool is_ring;          /* keeps the newest bytes instead of the oldest */
    bool is_tap;           /* keeps nothing: on_bytes is told of all */
    /* Is given all bytes as they come, whether they are kept or not. */
    void (*on_bytes)(void *arg, const char *p, size_t len);
    /* How many bytes may be written now; 0: writers wait until capture_wake.
     * NULL: any number. */
    size_t (*window)(void *arg);
    void *arg;
    struct waitq writable;
};

/* With is_ring, `max` bytes are kept, the newest. NULL: no memory. */
OWN struct capture *capture_new(size_t max, bool is_ring);
void capture_put(OWN struct capture *c); /* NULL is fine */
/* Sends all later output to `later` (a reference is taken), also that of the
 * writers that wait. */
void capture_close(struct capture *c, struct capture *later);
/* Has the writers that wait ask for the window again. */
void capture_wake(struct capture *c);
/* As a write to its file, whatever the window is. */
void capture_add(struct capture *c, const char *p, size_t len);
/* Takes the bytes; the caller frees them. NULL and 0 when there are none. With
 * `head`, the dropped ones are missing behind that many bytes. */
OWN char *capture_take(struct capture *c, size_t *ret_len);

/* A file that writes to c. */
int capture_open(struct kernel *k, struct capture *c, OWN struct file **ret);
/* A file to be read from, over a copy of the bytes. */
int input_open(struct kernel *k, const void *data, size_t len,
               OWN struct file **ret);

#endif
