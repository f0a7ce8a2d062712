/* Shared mappings of processes: which ranges of its memory a process shares
 * with others, through which object (kernel/vfs/shmem.h).
 *
 * A mapping is one range of one part of an object. The libc chooses the
 * addresses, as all memory of a process is its own. A process is charged for
 * its memory without the shared ranges; each object is charged once. */
#ifndef KERNEL_SHM_H
#define KERNEL_SHM_H

#include "kernel/task.h"
#include "kernel/vfs/shmem.h"

/* One mapping. `at` and `len` are multiples of SHMEM_PAGE_BYTES. */
struct shm_map {
    uint64_t at, len;
    uint64_t offset; /* of the object */
    OWN struct shmem *mem;
    uint8_t *bytes;        /* of the object, at `offset` */
    OWN struct file *file; /* or NULL */
    uint32_t prot;         /* as the program asked for it; not enforced */
};

/* Returns the task whose memory the calls of t use: a vfork child has that of
 * its parent. */
struct task *shm_space(struct task *t);

/* A range to map. */
struct shm_range {
    uint64_t at, len, offset;
    uint32_t prot;
};

/* Returns a new object without a file, or that of a file. NULL: no memory. */
OWN struct shmem *shm_new(void);
OWN struct shmem *shm_of_file(struct kernel *k, struct file *f);
/* Gives an object without a file its memory, charged for t. -ENOMEM. */
int shm_fit(struct task *t, struct shmem *s, uint64_t len);
/* Writes an object back to its file and frees it, with the last reference.
 * NULL is fine. */
void shm_put(struct kernel *k, OWN struct shmem *s);

/* Maps a range of `mem` into the memory of `space`, over whatever is there, and
 * enlarges the memory if needed. `file` may be NULL; both are referenced.
 * -ENOMEM, -EINVAL: below the memory that can be shared. */
int shm_map(struct task *space, const struct shm_range *r, struct shmem *mem,
            struct file *file);
/* Unmaps what is shared in [at, end): zeros follow. -ENOMEM: a mapping cannot
 * be split. */
int shm_unmap(struct task *space, uint64_t at, uint64_t end);
/* Finds the first mapping that ends beyond `at`, or NULL. Borrowed until the
 * next change. */
const struct shm_map *shm_next(const struct task *space, uint64_t at);
/* Writes mapped files back, as far as they are mapped in [at, end). */
int shm_sync(struct task *space, uint64_t at, uint64_t end);

/* Gives a new child the mappings of its parent, before the memory is copied.
 * -ENOMEM. */
int shm_copy(struct task *child, const struct task *parent);
/* The memory of t is gone, and with it its mappings. */
void shm_drop(struct task *t);

#endif
