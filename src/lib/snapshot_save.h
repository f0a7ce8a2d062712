/* Snapshots as bytes: what writing and reading them share.
 *
 *   magic, hash of the root image, hash of all that follows
 *   trees: for each mount that can be written, a layer over the root image
 *          (the root) or over nothing
 *   commands of the history
 *   the shell: state of its task, folder and open files by path, pages */
#ifndef LIB_SNAPSHOT_SAVE_H
#define LIB_SNAPSHOT_SAVE_H

#include "lib/snapshot.h"

#include <stdint.h>

#define SAVED_MAGIC "WSANDSN1"

struct saved_head {
    char magic[8];
    uint8_t image[32], body[32];
};

struct saved_shell {
    uint32_t state_bytes; /* sizeof(struct resident_state) */
    int32_t status;
    uint32_t has_env, n_files;
    uint64_t memory_bytes;
    uint32_t n_pages, cwd_mount;
};

struct saved_file {
    int32_t fd;
    uint32_t cloexec, is_lost, flags, mount, unused;
    uint64_t pos;
};

/* The hash of the runtime's root image; of none, zeros. */
void image_hash(struct wsand_runtime *rt, uint8_t ret[32]);
void hash_of(const void *p, size_t len, uint8_t ret[32]);

#endif
