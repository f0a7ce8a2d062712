/* A disk for SQLite that can lose power and fail: a VFS with files in memory.
 *
 * Each file keeps the bytes that were written and those that were synced. A
 * loss of power leaves the synced bytes. A torn one leaves, of each sector that
 * was written since, either the old or the new content at random. There is one
 * disk at a time. */
#ifndef DISK_H
#define DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_VFS "test-disk"

void disk_init(uint32_t seed);
void disk_fini(void);

/* Return the number of calls since disk_init that change or sync something, and
 * of syncs. */
long disk_calls(void);
long disk_syncs(void);
/* Makes the nth call from now fail with this result of SQLite, and with `stays`
 * all later ones too. With `reads`, reads count and fail as well; with
 * SQLITE_IOERR_FSYNC, only syncs do. nth 0 ends it. */
void disk_fail_at(long nth, int result, bool stays, bool reads);
bool disk_has_failed(void);
/* Limits the size of all files together with the host's file `beside`, which
 * posix_fallocate enlarges. Beyond it: SQLITE_FULL and ENOSPC. */
void disk_set_size(size_t bytes, const char *beside);
size_t disk_used(void);
/* Takes a snapshot, at the nth call from now, of what a loss of power would
 * leave. */
void disk_snap_at(long nth);
bool disk_has_snap(void);
/* Creates the files of that snapshot in another folder: the synced bytes, or
 * torn ones. */
void disk_from_snap(const char *dir, const char *to_dir, bool is_torn);
/* Loses power now. No file may be open. */
void disk_lose_power(bool is_torn);
/* Removes a file without a trace. */
void disk_remove(const char *path);
/* Changes a byte of a file where these bytes are found. Returns false if they
 * are not. */
bool disk_damage(const char *path, const void *bytes, unsigned len);

#endif
