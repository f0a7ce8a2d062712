/* Segments: shared memory of System V (shmget, shmat, shmdt, shmctl). A segment
 * is an object of shared memory with a number, a key and rights of its own. It
 * exists until it is removed and no process has it mapped any more. */
#ifndef KERNEL_SEGMENT_H
#define KERNEL_SEGMENT_H

#include "base/list.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel;
struct shmem;
struct task;

struct segment {
    struct list link; /* in kernel->segments, by number */
    int32_t id, key;
    uint32_t uid, gid, cuid, cgid, mode;
    uint32_t size;         /* as asked for */
    OWN struct shmem *mem; /* its other references are mappings */
    int64_t atime_ns, dtime_ns, ctime_ns;
    int32_t cpid, lpid;
    bool is_removed; /* goes with the last mapping */
};

/* Finds or creates the segment of a key, as shmget(2). Returns its number;
 * -EACCES, -EEXIST, -EINVAL, -ENOENT, -ENOSPC, -ENOMEM. */
int segment_get(struct task *t, int32_t key, uint32_t size, uint32_t flags);
/* Returns the segment of a number, or NULL. */
struct segment *segment_find(struct kernel *k, int32_t id);
/* Checks the rights of t: bits R_OK, W_OK. 0, -EACCES. */
int segment_access(const struct task *t, const struct segment *s, int want);
/* True for its owner, its creator and root. */
bool segment_is_own(const struct task *t, const struct segment *s);
/* The number of its mappings. */
size_t segment_mappings(const struct segment *s);
/* Removes the number, now or when the last mapping is gone. */
void segment_remove(struct kernel *k, struct segment *s);
/* The process `pid` has mapped or unmapped it. After an unmapping, s may be
 * gone. */
void segment_attached(struct kernel *k, struct segment *s, int32_t pid);
void segment_detached(struct kernel *k, struct segment *s, int32_t pid);
/* Frees a removed segment that no process has mapped. */
void segment_tidy(struct kernel *k, struct segment *s);
/* Frees all segments, after all processes have ended. */
void segments_free(struct kernel *k);

#endif
