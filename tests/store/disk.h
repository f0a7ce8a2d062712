/* A disk for SQLite that can lose its power and fail: a VFS with files in
 * memory. Each file has what was written and what was synced; a loss of power
 * keeps the latter, or of each sector that was written since either the one or
 * the other. There is one disk at a time; names are those of files. */
#ifndef DISK_H
#define DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_VFS "test-disk"

void disk_init(uint32_t seed);
void disk_fini(void);

/* Calls that change or sync something, since disk_init. */
long disk_calls(void);
long disk_syncs(void);
/* The nth call from now fails with this result of SQLite; with `stays`, all
 * further ones too until 0. With `reads`, reads count and fail as well; with
 * SQLITE_IOERR_FSYNC, only syncs do. */
void disk_fail_at(long nth, int result, bool stays, bool reads);
bool disk_has_failed(void);
/* The files here and the host's file `beside`, which posix_fallocate makes
 * larger, have this many bytes together; SQLITE_FULL and ENOSPC beyond. */
void disk_set_size(size_t bytes, const char *beside);
size_t disk_used(void);
/* What would be left if the power went with the nth call from now. */
void disk_snap_at(long nth);
bool disk_has_snap(void);
/* That, as files of another folder: what was synced, or torn. */
void disk_from_snap(const char *dir, const char *to_dir, bool is_torn);
/* The power goes now. No file may be open. */
void disk_lose_power(bool is_torn);
/* As if it had never been. */
void disk_remove(const char *path);
/* Changes a byte of a file where these bytes are; false: they are not. */
bool disk_damage(const char *path, const void *bytes, unsigned len);

#endif
