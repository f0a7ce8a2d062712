/* Reads the write-ahead log of SQLite without SQLite, to find the intact
 * frames, also after a damaged one.
 *
 * https://www.sqlite.org/fileformat2.html#walformat: a header, then frames of a
 * header and a page. Problem: the checksum of a frame continues from that of
 * the previous frame, so one damaged frame makes all later ones invalid to
 * SQLite.
 *
 * Idea: the next frame continued from the checksum that is *stored* in the
 * damaged one. A frame is good if its checksum follows from the stored checksum
 * before it. */
#ifndef STORE_WAL_H
#define STORE_WAL_H

#include "base/own.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    WAL_HEADER_BYTES = 32,
    WAL_FRAME_HEADER_BYTES = 24,
    WAL_PAGE_BYTES = 4096,
    WAL_FRAME_BYTES = WAL_FRAME_HEADER_BYTES + WAL_PAGE_BYTES,
};

/* The result of a scan. */
struct wal {
    uint8_t *frames;   /* an enum wal_frame for each */
    uint32_t n;        /* up to the last good one that ends a transaction */
    uint32_t n_prefix; /* frames that SQLite recovers */
};

enum wal_frame { WAL_BAD, WAL_GOOD };

/* Returns 1 and the salts; 0: this is not the header of a log. */
int wal_salts(sqlite3_file *f, uint64_t *ret);
/* Classifies all frames of the log. The caller frees the result with wal_fini.
 * -EIO, -ENOMEM. */
int wal_scan(sqlite3_file *f, struct wal *ret);
void wal_fini(struct wal *w);
/* Writes a log of only the good frames to a file. -errno. */
int wal_write_good(sqlite3_file *f, const struct wal *w, int hfd);

#endif
