/* Memory that processes share: the contents of a file while it is mapped, or
 * memory without a file.
 *
 * The memory consists of parts, each a range of the file (or of the object) in
 * one piece of host memory, which the engine maps into several processes. For
 * these ranges the parts are the truth: file systems in memory read and write
 * them together with their tree. The ranges go back to the file when somebody
 * asks for that, or when the last mapping is gone. */
#ifndef KERNEL_VFS_SHMEM_H
#define KERNEL_VFS_SHMEM_H

#include "base/list.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct fs;
struct segment;
struct vfs;

#define SHMEM_PAGE_BYTES 4096u

/* Starts and ends at whole pages. */
struct shmem_part {
    uint64_t at, len;
    uint8_t *bytes;
};

struct shmem {
    struct list link; /* in vfs->shmems, if it has a file */
    size_t refs;
    struct shmem_part *parts; /* VEC_ROOM; in order, without overlap */
    size_t n_parts;
    struct fs *fs; /* of its file, or NULL */
    uint64_t ino;
    /* Reads and writes the file; NULL if no mapping can change it. */
    OWN struct file *writer;
    struct segment *segment; /* of System V (kernel/segment.h), or NULL */
};

/* Returns the memory of a file that is mapped, or NULL. Borrowed. */
struct shmem *shmem_find(const struct fs *fs, uint64_t ino);

/* Returns the first part that ends beyond `at`, or NULL. */
const struct shmem_part *shmem_next_part(const struct shmem *s, uint64_t at);

/* After the file was read or written from `at` on: copies what the parts have
 * of it into buf, or from it. A NULL buf for shmem_write means zeros. s may be
 * NULL. */
void shmem_read(const struct shmem *s, uint64_t at, void *buf, uint64_t len);
void shmem_write(struct shmem *s, uint64_t at, const void *buf, uint64_t len);

/* Writes the pages that differ to the file, as far as they are in [at, end) and
 * before its end. Returns 0, or the first error (-ENOSPC, ...). */
int shmem_sync(struct shmem *s, uint64_t at, uint64_t end);
/* The same for all files of fs. Errors are ignored: the pages stay where they
 * are. */
void shmem_sync_all(const struct fs *fs);

/* In a file system that counts as memory, the parts have the pages alone: these
 * leave holes in the file, so that each page is charged once. Without memory
 * for that, it is charged twice until it is unmapped. */
void shmem_punch(struct shmem *s);
/* The same for all files of fs. */
void shmem_punch_all(const struct fs *fs);

#endif
