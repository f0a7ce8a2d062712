/* Pipes: a ring of bytes between readers and writers.
 *
 * A pipe lives while it has a reader or a writer. Its ring is allocated by
 * the first write and charged to the memory limit. */
#ifndef KERNEL_PIPE_H
#define KERNEL_PIPE_H

#include "base/own.h"
#include "kernel/vfs/file.h"
#include "kernel/wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes of up to this many bytes are atomic. */
#define PIPE_ATOMIC_BYTES 4096u
#define PIPE_BYTES_MAX    (1024u * 1024)

/* The lengths of the packets in a pipe. */
struct pipe_packets {
    uint16_t len[16];
    unsigned first, n;
};

/* A pipe. The ends are counted, not listed: files own them. */
struct pipe {
    struct kernel *kernel;
    uint8_t *ring; /* NULL before the first write */
    size_t cap, head, used;
    bool has_packets; /* created with O_DIRECT: one read returns one packet */
    struct pipe_packets packets;
    /* Open ends. The pipe is freed when both are 0. */
    uint32_t readers, writers;
    /* Number of opens: a FIFO's partner may come and go between two checks. */
    uint32_t reader_opens, writer_opens;
    struct waitq readable, writable;
    /* Called after the last reader and writer are gone. */
    void (*free)(OWN struct pipe *p);
};

/* flags: O_NONBLOCK. With O_DIRECT, writes are packets of up to
 * PIPE_ATOMIC_BYTES, and the unread rest of a packet is lost. */
int pipe_new(struct kernel *k, uint32_t flags, OWN struct file **ret_rd,
             OWN struct file **ret_wr);

/* F_GETPIPE_SZ and F_SETPIPE_SZ: the size in bytes. -EBADF if f is not a pipe,
 * -EBUSY below its contents, -EPERM above PIPE_BYTES_MAX. */
int64_t pipe_get_size(struct file *f);
int64_t pipe_set_size(struct file *f, uint32_t bytes);

/* --- for fifo.c, which embeds a pipe */

/* Initialises a pipe without ends; p->free must be set by the caller. */
void pipe_init(struct pipe *p, struct kernel *k);
/* Frees the ring. */
void pipe_fini(struct pipe *p);
/* Removes one reader or writer. */
void pipe_drop_reader(struct pipe *p);
void pipe_drop_writer(struct pipe *p);
/* Creates a file that owns one reader, one writer or both, by the access mode
 * in `flags`; on failure they are removed. */
int pipe_file_new(struct pipe *p, uint32_t flags, OWN struct file **ret);

#endif
