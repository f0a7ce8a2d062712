/* Transactions, and the log that makes them durable.
 *
 * Problem: after a failed sync, Linux does not write the lost pages again; the
 * next sync succeeds without them. A transaction whose sync failed is undone,
 * and later ones overwrite it. But transactions that were committed without a
 * sync precede it in the log. After a power loss, recovery would stop at the
 * hole and find nothing after it.
 *
 * Idea: such transactions are written again before anything else is made
 * durable. The same is done for a log that another process has left. */
#include "store/store_impl.h"
#include "store/wal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES = 65536 };

/* SQLite calls this after each transaction that wrote to the log. */
static int
log_note_commit(void *arg, sqlite3 *db, const char *name, int pages)
{
    struct store *s = arg;

    (void)db;
    (void)name;
    s->log_pages = pages;
    s->is_unsynced = !s->is_full;
    return SQLITE_OK;
}

/* Returns SQLite's own handle of the log, or NULL if there is none yet. */
static sqlite3_file *
log_file(struct store *s)
{
    sqlite3_file *f = NULL;

    if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &f))
        return NULL;
    return f && f->pMethods ? f : NULL;
}

/* Length of the log in bytes.
 *
 * Overwriting is faster than appending, because appending also changes the size
 * of the file, which costs a second write in each sync. The log therefore has
 * its full length from the beginning. */
static sqlite3_int64
log_bytes(const struct store *s)
{
    return (sqlite3_int64)s->options.log_pages * WAL_FRAME_BYTES;
}

/* Missing space is not an error: the log then grows as usual. */
static void
log_extend(struct store *s)
{
    static const char zeros[COPY_BYTES];
    sqlite3_int64 at, end = log_bytes(s);
    sqlite3_file *f = log_file(s);

    if (!f || f->pMethods->xFileSize(f, &at))
        return;
    for (; at < end; at += COPY_BYTES)
        if (f->pMethods->xWrite(f, zeros, COPY_BYTES, at))
            return;
}

/* A log that another process has left may contain pages that never reached the
 * disk, so it counts as doubtful. PERSIST_WAL and NO_CKPT_ON_CLOSE keep SQLite
 * from deleting or moving the log by itself. */
int
log_init(struct store *s)
{
    int on = 1;

    s->is_doubtful = true;
    (void)sqlite3_file_control(s->db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
    sqlite3_wal_hook(s->db, log_note_commit, s);
    if (!s->options.is_copy)
        log_extend(s);
    return sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL)
               ? sql_fail(s)
               : 0;
}

static int
log_sync(struct store *s, sqlite3_file *f)
{
    if (f->pMethods->xSync(f, SQLITE_SYNC_NORMAL))
        return store_fail(s, -EIO, "the store: its log cannot be synced: %s",
                          strerror(errno));
    s->is_unsynced = s->is_doubtful = false;
    return 0;
}

/* Reads the log from the page cache, which still has the lost pages, and writes
 * it again. The pages become dirty, so the next sync really writes them. */
static int
log_rewrite(sqlite3_file *f, char *buf)
{
    sqlite3_int64 size;

    if (f->pMethods->xFileSize(f, &size))
        return -EIO;
    for (sqlite3_int64 at = 0; at < size; at += COPY_BYTES) {
        int n = size - at < COPY_BYTES ? (int)(size - at) : COPY_BYTES;
        if (f->pMethods->xRead(f, buf, n, at) ||
            f->pMethods->xWrite(f, buf, n, at))
            return -EIO;
    }
    return 0;
}

int
log_repair(struct store *s)
{
    sqlite3_file *f = log_file(s);
    char *buf;

    if (!s->is_doubtful || !f)
        return 0;
    buf = malloc(COPY_BYTES);
    if (!buf)
        return store_fail(s, -ENOMEM, "no memory");
    int r = log_rewrite(f, buf);
    free(buf);
    return r < 0
               ? store_fail(s, r, "the store: its log cannot be written again")
               : log_sync(s, f);
}

static int
log_sync_file(struct store *s)
{
    sqlite3_file *f = log_file(s);

    if (s->is_doubtful)
        return log_repair(s);
    if (!s->is_unsynced || !f)
        return 0;
    s->is_doubtful = true; /* unless it succeeds */
    return log_sync(s, f);
}

int
store_sync(struct store *s)
{
    int r = log_sync_file(s);

    if (r == 0)
        ledger_settle(s, true);
    return r;
}

/* --- checkpoints
 *
 * When the whole log is in the database, its header is overwritten, because a
 * log that is no longer used must not be read again. Damage in it would end its
 * recovery early, and old pages would hide newer ones of the database. SQLite
 * starts the log again with the next transaction, with a header of its own. */

int
log_salts(struct store *s, uint64_t *ret)
{
    sqlite3_file *f = log_file(s);

    return f ? wal_salts(f, ret) : 0;
}

static void
log_clear(struct store *s)
{
    static const char zeros[WAL_HEADER_BYTES];
    sqlite3_file *f = log_file(s);

    if (f)
        (void)f->pMethods->xWrite(f, zeros, sizeof zeros, 0);
    if (f && s->is_reserve_used) /* the log may have grown into the reserve */
        (void)f->pMethods->xTruncate(f, log_bytes(s));
}

/* Moves the log to the database. The ledger must first allow any log, because
 * SQLite may begin the log again with the next transaction. */
static int
log_checkpoint(struct store *s)
{
    int in_log = 0, moved = 0;

    int r = ledger_set_log(s, LEDGER_LOG_ANY);
    if (r < 0)
        return r;
    if (sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_PASSIVE,
                                  &in_log, &moved)) {
        s->is_doubtful = s->is_unsynced;
        return sql_fail(s);
    }
    s->log_pages = 0;
    s->is_unsynced = false;
    if (moved == in_log)
        log_clear(s);
    ledger_settle(s, true);
    return moved == in_log ? ledger_renew(s) : 0;
}

int
store_checkpoint(struct store *s)
{
    int r = log_repair(s);

    return r < 0 || s->log_pages < s->options.log_pages ? r : log_checkpoint(s);
}

int
log_empty(struct store *s)
{
    int r = log_repair(s);

    return r < 0 ? r : log_checkpoint(s);
}

/* If everything is in the database and the header of the log is overwritten,
 * the ledger records that no log may exist. A log that appears later, for
 * example from a backup, is then recognised as foreign. */
void
log_close(struct store *s)
{
    sqlite3_file *f = log_file(s);
    uint64_t salts;

    if (store_sync(s) == 0 && log_checkpoint(s) == 0 && f &&
        !wal_salts(f, &salts) && !f->pMethods->xSync(f, SQLITE_SYNC_NORMAL))
        (void)ledger_set_log(s, LEDGER_LOG_NONE);
}

/* --- transactions */

int
store_begin(struct store *s, bool is_durable)
{
    if (s->is_begun)
        return store_fail(s, -EBUSY, "a transaction has begun");
    int r = log_repair(s);
    if (r == 0)
        r = sql_set_durable(s, is_durable);
    if (r == 0)
        r = sql_run(s, SQL_begin, "");
    s->is_begun = r == 0;
    s->broken = 0;
    return r;
}

/* Rolls back and keeps the text of the first error, which the rollback would
 * replace. */
static int
log_end_failed(struct store *s, int error)
{
    char why[STORE_WHY_BYTES];

    memcpy(why, s->why, sizeof why);
    store_undo(s);
    memcpy(s->why, why, sizeof why);
    s->is_doubtful = s->is_unsynced;
    return error;
}

/* With synchronous=FULL, SQLite has synced the log already. store_sync then
 * writes the claims. It syncs only if the transaction changed nothing while
 * earlier commits still wait for a sync. */
int
store_end(struct store *s)
{
    if (!s->is_begun)
        return store_fail(s, -EINVAL, "no transaction has begun");
    if (s->broken)
        return log_end_failed(s, s->broken);
    int r = sql_run(s, SQL_end, "");
    if (r < 0)
        return log_end_failed(s, r);
    s->is_begun = false;
    if (s->is_full)
        return store_sync(s);
    ledger_settle(s, false);
    return 0;
}

void
store_undo(struct store *s)
{
    s->is_begun = false;
    ledger_undo(s);
    if (!sqlite3_get_autocommit(s->db))
        (void)sql_run(s, SQL_undo, "");
}
