/* The structures and functions that the files of the store share. store.h is
 * the contract for users.
 *
 * Functions return 0 or a negative errno, and set the text of store_why. */
#ifndef STORE_STORE_IMPL_H
#define STORE_STORE_IMPL_H

#include "base/own.h"
#include "store/ledger.h"
#include "store/store.h"

#include <sqlite3.h>

/* In the order in which session.c reads them. */
#define SESSION_COLUMNS                                                        \
    "number, session.id, agent, label, state, cause, limits, options, image, " \
    "shell, created_ms, changed_ms, is_interval, quota_bytes, quota_inodes, "  \
    "quota_names, quota_pages, quota_other, layer.bytes, layer.inodes, "       \
    "layer.names, layer.pages, layer.other, session.layer"

enum statement {
#define STATEMENT(name, text) SQL_##name,
#include "store/statements.def"
#undef STATEMENT
    N_STATEMENTS
};

/* Bytes of a value, and of a block of a file; larger ones are chunks. */
enum { INLINE_MAX = 4096, BLOCK_INLINE_MAX = 512 };

enum { STORE_PATH_BYTES = 1024 };

/* One open store. One thread at a time uses it, so it needs no lock. */
struct store {
    sqlite3 *db;
    sqlite3_stmt *statements[N_STATEMENTS];
    struct store_options options;
    int lock_hfd;
    int reserve_hfd;      /* -1: none */
    bool is_reserve_used; /* and must be filled again */
    bool is_open;         /* opening succeeded, so closing may write */
    bool is_begun;        /* by store_begin */
    bool is_alone;    /* a single op is the whole transaction: no savepoint */
    bool is_full;     /* the mode of synchronous */
    bool is_unsynced; /* some commits are not durable */
    /* A sync failed while there were such commits: see log.c. */
    bool is_doubtful;
    /* The error for which SQLite rolled back the open transaction; 0: none. */
    int broken;
    int log_pages;        /* in the log since the last checkpoint */
    int64_t last_chunk;   /* the number of the newest one; 0: not known */
    int64_t forget_at_ms; /* when to search for old rows */
    bool may_tidy;        /* something may be loose */
    bool may_shrink;      /* something was deleted */
    bool is_log_foreign;  /* the log was another one, and was set aside */
    struct ledger ledger;
    char ledger_path[STORE_PATH_BYTES];
    char why[STORE_WHY_BYTES];
};

/* --- sql.c */

/* Sets the text and returns `error`. */
int store_fail(struct store *s, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Like store_fail, for the last error of SQLite. */
int sql_fail(struct store *s);
/* Starts a statement. Arguments by letter: i an int64_t, b a pointer and a
 * size_t (NULL is an empty blob), t a string (NULL is ""), n nothing: NULL.
 * They are not copied. Returns NULL on error: see store_why, and sql_step of
 * NULL fails. */
OWN sqlite3_stmt *sql_start(struct store *s, enum statement name,
                            const char *letters, ...);
/* Returns 1 and a row, 0, or an error. */
int sql_step(struct store *s, sqlite3_stmt *st);
/* For CLEANUP of the result of sql_start. */
void sql_resetp(sqlite3_stmt **st);
#define SQL CLEANUP(sql_resetp) sqlite3_stmt
/* Runs a statement that returns no rows. */
int sql_run(struct store *s, enum statement name, const char *letters, ...);
/* Returns the first column of the first row; 0 if there is none. */
int sql_number(struct store *s, int64_t *ret, enum statement name,
               const char *letters, ...);
/* Never NULL; valid until the next step. */
const char *sql_text(sqlite3_stmt *st, int column);
/* Writes between these are atomic; `error` is their result. */
int store_op_begin(struct store *s);
int store_op_end(struct store *s, int error);
/* Sets the mode of synchronous, outside of transactions. */
int sql_set_durable(struct store *s, bool is_durable);

/* --- log.c */

/* Prepares the log of a database that was just opened. */
int log_init(struct store *s);
/* Must be called before writes that must be durable. */
int log_repair(struct store *s);
/* Returns 1 and the salts of the log's header; 0: it has none. */
int log_salts(struct store *s, uint64_t *ret);
/* Makes a checkpoint, however short the log is. */
int log_empty(struct store *s);
/* At the end: moves everything to the database, if possible. */
void log_close(struct store *s);

/* --- recover.c: the steps between opening the database and using it */

/* Sets a log aside that does not belong to the database, before SQLite reads
 * it. */
int recover_check_log(struct store *s, const char *dir);
/* Compares the store with the ledger. 1: the log was replaced by its good
 * frames, and the database must be opened again. */
int recover_log(struct store *s, const char *dir);
/* Recovers all acknowledged commits, or lists lost ones in the table `damage`.
 */
int recover_sessions(struct store *s, const char *dir);
/* Computes digests and checksums for a store of a format without them. */
int recover_upgrade(struct store *s);

/* --- salvage.c: commits behind a damaged frame */

/* Returns 1 if there are some, in a separate folder. */
int salvage_make(struct store *s, const char *dir);
/* Returns 1 if all of them are good, and have become the log. */
int salvage_install(struct store *s, const char *dir);
/* Imports each session that does not match the ledger, if it is complete in the
 * salvage folder. Must be called in a transaction. */
int salvage_import(struct store *s, const char *dir);
bool salvage_is_there(const char *dir);
void salvage_remove(const char *dir);
/* Opens a handle of our own on the log; 1, or 0: there is none. */
int recover_log_open(struct store *s, const char *dir, OWN sqlite3_file **ret);
void recover_log_put(OWN sqlite3_file *f);
DEFINE_CLEANUP(sqlite3_file *, recover_log_put)

/* --- reserve.c */

/* A store works without a reserve, too. */
void reserve_open(struct store *s, const char *dir);
/* Releases the space of the reserve to a store that cannot be opened on a full
 * disk, and whose lock is held. False: there is none. */
bool reserve_give_up(const struct store *s, const char *dir);
/* -ENOSPC: it was used, and there is no space to fill it. */
int reserve_fill(struct store *s);
/* Releases its space to the next commits; false: there is none. */
bool reserve_use(struct store *s);
/* Uses the reserve if upkeep can remove something as a whole. */
bool reserve_use_for_upkeep(struct store *s);

/* --- session.c */

/* A session that has not ended, as far as commits need it. */
struct session_row {
    int64_t number, layer, staging; /* staging 0: none */
    uint64_t quota[5];              /* in the order of store_amounts */
};
/* Finds a session that has not ended. */
int session_row_find(struct store *s, const char *id, struct session_row *ret);
int session_row_drop_staging(struct store *s, int64_t number, int64_t layer);
/* Computes the checksum of everything except created_ms and values that the
 * store sets. */
int64_t session_row_sum(const struct store_session *row);
/* -EBADMSG if the row is not as it was written. */
int session_row_check(struct store *s, const struct store_session *row);
/* Finds the next session after a number: 1, its number, id and layer. */
int session_row_next(struct store *s, int64_t *number, char ret_id[65],
                     int64_t *ret_layer);

/* --- commit.c */

enum { SUM_BITS = 0x3fffffff };
/* Continues the hash `h` with these bytes. */
uint64_t store_mix(uint64_t h, const void *p, size_t len);
/* Computes the checksum that is stored with a record: of its key, and of its
 * value or the number of its chunk. */
int64_t store_record_sum(const void *key, size_t key_len, const void *value,
                         size_t len, int64_t chunk);
/* True if the stored checksum is equal, whichever program stored it. */
bool store_record_sum_is(int64_t sum, int64_t stored);

/* --- layer.c */

/* A row of the table `layer`. Amounts and digest are kept up to date only in
 * the first layer of a session. */
struct layer {
    int64_t parent, session; /* 0: none */
    /* Of all records that are visible from it. */
    struct store_amounts used;
    uint64_t digest; /* the sum of layer_digest_of all records */
    /* Of the session that owns it. */
    uint64_t commits;        /* including changes of its row */
    int64_t session_row_sum; /* of its row, as of its last change */
};
/* Reads a row. -EBADMSG: there is none, so the store is damaged. */
int layer_get(struct store *s, int64_t id, struct layer *ret);
/* Inserts a row and returns its number. */
int layer_add(struct store *s, const struct layer *l, int64_t *ret_id);
/* Writes all but parent and owner. */
int layer_put(struct store *s, int64_t id, const struct layer *l);
/* Returns the part of a record in the digest of its layer. */
uint64_t layer_digest_of(const void *key, size_t key_len, uint64_t len,
                         int64_t sum);
/* Counts a record that was added or removed. */
void layer_charge(struct layer *l, const uint8_t *key, size_t key_len,
                  uint64_t len, int64_t sum, bool is_there);
/* Marks a layer that lost a child for store_tidy. Accepts 0. */
int layer_loosen(struct store *s, int64_t id);
/* Removes the owner of a layer, and marks it as layer_loosen does. */
int layer_disown(struct store *s, int64_t id);

/* A layer and its parents, the nearest first. Parents have smaller numbers,
 * which bounds the length and excludes rings. */
struct chain {
    int64_t *ids;
    size_t n;
};
int layer_chain_init(struct store *s, int64_t layer, struct chain *ret);
/* For a layer whose parent is known. */
int layer_chain_init_of(struct store *s, int64_t layer, int64_t parent,
                        struct chain *ret);
void layer_chain_fini(struct chain *c);

/* --- chunk.c */

/* Returns the chunk with these bytes; creates it if needed. */
int store_chunk_put(struct store *s, const void *p, size_t len,
                    int64_t *ret_id);
/* Reads a chunk and verifies its hash (-EBADMSG). The bytes stay valid until
 * the caller resets *ret_st. */
int chunk_get(struct store *s, int64_t id, OWN sqlite3_stmt **ret_st,
              const void **ret, size_t *ret_len);

#endif
