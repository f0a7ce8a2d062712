/* A store: its folder, its lock, its tables.
 *
 * Files of the folder: `store.db` and `store.db-wal` (SQLite),
 * `store.db-ledger` (ledger.c), `reserve` (reserve.c), `lock`, and during a
 * recovery `salvage` (salvage.c). */
#include "base/hfd.h"
#include "store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    APPLICATION = 0x77736e64, /* marks the file: "wsnd" */
    VERSION = 2,
    PATH_BYTES = STORE_PATH_BYTES,
    CACHE_BYTES = 4 << 20,
    LOG_PAGES = 1000,
};

/* The tables. A layer, a chunk or a staging number of 0 means none, and a
 * session without a layer has ended. `loose_layer` and `loose_chunk` are lists
 * of work for upkeep; an entry that is not needed does no harm. Names of tables
 * and columns belong to the format: a change of one needs a new VERSION. */
static const char schema[] =
    "CREATE TABLE session("
    " number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " agent TEXT NOT NULL, label TEXT NOT NULL, state TEXT NOT NULL,"
    " cause TEXT NOT NULL, limits TEXT NOT NULL, options TEXT NOT NULL,"
    " image TEXT NOT NULL, shell TEXT NOT NULL, created_ms INTEGER NOT NULL,"
    " changed_ms INTEGER NOT NULL, is_interval INTEGER NOT NULL,"
    " quota_bytes INTEGER NOT NULL, quota_inodes INTEGER NOT NULL,"
    " quota_names INTEGER NOT NULL, quota_pages INTEGER NOT NULL,"
    " quota_other INTEGER NOT NULL, layer INTEGER NOT NULL,"
    " staging INTEGER NOT NULL DEFAULT 0);"
    "CREATE INDEX session_ended ON session(changed_ms) WHERE layer=0;"
    "CREATE TABLE event("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT, time_ms INTEGER NOT NULL,"
    " session TEXT NOT NULL, agent TEXT NOT NULL, kind TEXT NOT NULL,"
    " cause TEXT NOT NULL, figures TEXT NOT NULL);"
    "CREATE INDEX event_session ON event(session, seq);"
    "CREATE TABLE layer("
    " id INTEGER PRIMARY KEY, parent INTEGER NOT NULL,"
    " session INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " inodes INTEGER NOT NULL, names INTEGER NOT NULL,"
    " pages INTEGER NOT NULL, other INTEGER NOT NULL, filled BLOB,"
    " digest INTEGER NOT NULL DEFAULT 0, commits INTEGER NOT NULL DEFAULT 0,"
    " row_sum INTEGER NOT NULL DEFAULT 0);"
    "CREATE INDEX layer_parent ON layer(parent);"
    "CREATE TABLE record("
    " layer INTEGER NOT NULL, key BLOB NOT NULL, len INTEGER, value BLOB,"
    " chunk INTEGER, sum INTEGER, PRIMARY KEY(layer, key)) WITHOUT ROWID;"
    "CREATE INDEX record_chunk ON record(chunk) WHERE chunk IS NOT NULL;"
    "CREATE TABLE chunk("
    " id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, data BLOB NOT NULL);"
    "CREATE TABLE loose_layer(id INTEGER PRIMARY KEY);"
    "CREATE TABLE loose_chunk(id INTEGER PRIMARY KEY);"
    "CREATE TABLE damage("
    " session TEXT NOT NULL, what TEXT NOT NULL, PRIMARY KEY(session, what));";

/* Format 1 knew no digests. */
static const char upgrade_1[] =
    "ALTER TABLE layer ADD COLUMN digest INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE layer ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE layer ADD COLUMN row_sum INTEGER NOT NULL DEFAULT 0;"
    "CREATE TABLE damage("
    " session TEXT NOT NULL, what TEXT NOT NULL, PRIMARY KEY(session, what));";

static int
store_exec(struct store *s, const char *text)
{
    return sqlite3_exec(s->db, text, NULL, NULL, NULL) ? sql_fail(s) : 0;
}

static int
store_pragma(struct store *s, const char *name, int64_t *ret)
{
    sqlite3_stmt *st;
    char query[64];

    (void)snprintf(query, sizeof query, "PRAGMA %s", name);
    if (sqlite3_prepare_v2(s->db, query, -1, &st, NULL))
        return sql_fail(s);
    int r = sql_step(s, st);
    *ret = r > 0 ? sqlite3_column_int64(st, 0) : 0;
    sqlite3_finalize(st);
    return r < 0 ? r : 0;
}

/* --- opening */

/* The file of the lock contains the process id of the owner, for the error
 * message of others. The lock itself is flock, which ends with the process. */
static int
store_lock(struct store *s, const char *dir)
{
    char path[PATH_BYTES], owner[32] = "";

    if (snprintf(path, sizeof path, "%s/lock", dir) >= (int)sizeof path)
        return store_fail(s, -ENAMETOOLONG, "the store's path is too long");
    s->lock_hfd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->lock_hfd < 0)
        return store_fail(s, -errno, "%s: %s", dir, strerror(errno));
    if (flock(s->lock_hfd, LOCK_EX | LOCK_NB)) {
        ssize_t n = pread(s->lock_hfd, owner, sizeof owner - 1, 0);
        owner[n > 0 ? strspn(owner, "0123456789") : 0] = 0;
        return store_fail(s, -EBUSY,
                          "%s: the store is in use by process %s; stop it, or "
                          "choose another folder",
                          dir, *owner ? owner : "?");
    }
    int n = snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
    if (ftruncate(s->lock_hfd, 0) ||
        pwrite(s->lock_hfd, owner, (size_t)n, 0) < 0)
        return store_fail(s, -errno, "%s: %s", path, strerror(errno));
    return 0;
}

static int
store_make_tables(struct store *s)
{
    char text[96];
    int r = store_exec(s, "BEGIN IMMEDIATE");

    if (r == 0)
        r = store_exec(s, schema);
    (void)snprintf(text, sizeof text,
                   "PRAGMA application_id=%d; PRAGMA user_version=%d;"
                   "COMMIT",
                   APPLICATION, VERSION);
    return r < 0 ? r : store_exec(s, text);
}

/* One transaction: a crash leaves the store in its old format. */
static int
store_upgrade(struct store *s)
{
    char text[64];
    int r = store_exec(s, "BEGIN IMMEDIATE");

    if (r == 0)
        r = store_exec(s, upgrade_1);
    if (r == 0)
        r = recover_upgrade(s);
    (void)snprintf(text, sizeof text, "PRAGMA user_version=%d; COMMIT",
                   VERSION);
    if (r == 0)
        r = store_exec(s, text);
    if (r < 0)
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

/* A database without tables is a new store, which may be an earlier creation
 * that was interrupted. */
static int
store_check_version(struct store *s, const char *dir)
{
    int64_t application = 0, version = 0, pages = 0;

    int r = store_pragma(s, "application_id", &application);
    if (r == 0)
        r = store_pragma(s, "user_version", &version);
    if (r == 0)
        r = store_pragma(s, "page_count", &pages);
    if (r < 0)
        return r;
    if (!application && !version && pages <= 1)
        return store_make_tables(s);
    if (application != APPLICATION)
        return store_fail(s, -EBADMSG, "%s: store.db is not a store", dir);
    if (version == 1)
        return store_upgrade(s);
    if (version != VERSION)
        return store_fail(
            s, -EPROTO,
            "%s: the store has format %lld, this program knows %d; "
            "use the program that made it",
            dir, (long long)version, VERSION);
    return 0;
}

/* The database has one user, so its log needs no index in shared memory
 * (EXCLUSIVE). Switching a new database to a log removes its rollback journal.
 * EXTRA makes SQLite sync the folder afterwards, so that the journal does not
 * come back after a power loss. Checkpoints are made by log.c, never by SQLite
 * itself. */
static const char settings[] =
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA page_size=4096;"
    "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA synchronous=EXTRA;"
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
    "PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=16777216;"
    "PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0; PRAGMA cell_size_check=ON";

static int
store_configure(struct store *s)
{
    char text[64];
    int r = store_exec(s, settings);

    s->is_full = r == 0;
    (void)snprintf(text, sizeof text, "PRAGMA cache_size=-%zu",
                   s->options.cache_bytes >> 10);
    return r < 0 ? r : store_exec(s, text);
}

/* The log is checked before the first statement, because SQLite reads the log
 * then. */
static int
store_open_database(struct store *s, const char *dir)
{
    char path[PATH_BYTES];

    if (snprintf(path, sizeof path, "%s/store.db", dir) >= (int)sizeof path)
        return store_fail(s, -ENAMETOOLONG, "the store's path is too long");
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_NOFOLLOW |
                (s->options.is_old ? 0 : SQLITE_OPEN_CREATE);
    int code = sqlite3_open_v2(path, &s->db, flags, s->options.vfs);
    if (code == SQLITE_CANTOPEN && s->options.is_old)
        return store_fail(s, -ENOENT, "%s: there is no store", dir);
    if (code)
        return s->db ? sql_fail(s) : store_fail(s, -ENOMEM, "no memory");
    sqlite3_extended_result_codes(s->db, 0);
    int r = s->options.is_copy ? 0 : recover_check_log(s, dir);
    if (r == 0)
        r = store_configure(s);
    if (r == 0)
        r = store_check_version(s, dir);
    return r < 0 ? r : log_init(s);
}

static void
store_close_database(struct store *s)
{
    for (size_t i = 0; i < N_STATEMENTS; i++)
        sqlite3_finalize(STEAL(s->statements[i]));
    sqlite3_close(STEAL(s->db));
}

/* Workers do not outlive their supervisor, so the rest of an incomplete commit
 * will never arrive. */
static int
store_drop_staging(struct store *s)
{
    int r = store_op_begin(s);

    while (r == 0) {
        SQL *st = sql_start(s, SQL_session_staged, "");
        r = sql_step(s, st);
        if (r <= 0)
            break;
        int64_t number = sqlite3_column_int64(st, 0);
        int64_t layer = sqlite3_column_int64(st, 1);
        r = session_row_drop_staging(s, number, layer);
    }
    return store_op_end(s, r);
}

/* Creates the folder, and those above it that are missing. */
static int
store_make_folders(struct store *s, const char *dir)
{
    char path[1024];
    size_t n = strspn(dir, "/");

    if (strlen(dir) >= sizeof path)
        return store_fail(s, -ENAMETOOLONG, "%s: the name is too long", dir);
    while (dir[n]) {
        n += strcspn(dir + n, "/");
        memcpy(path, dir, n);
        path[n] = 0;
        if (mkdir(path, 0700) && errno != EEXIST)
            return store_fail(s, -errno, "%s: %s", path, strerror(errno));
        n += strspn(dir + n, "/");
    }
    return 0;
}

/* The order of recovery: a foreign log is set aside before SQLite sees it; the
 * log is repaired, which needs a second opening; then sessions are compared
 * with the ledger. Nothing else is written before that is durable. */
static int
store_open_all(struct store *s, const char *dir)
{
    int r = s->options.is_old ? 0 : store_make_folders(s, dir);
    if (r == 0)
        r = store_lock(s, dir);
    if (r == 0)
        r = store_open_database(s, dir);
    if (r < 0 || s->options.is_copy)
        return r;
    r = recover_log(s, dir);
    if (r > 0) {
        store_close_database(s);
        r = store_open_database(s, dir);
    }
    if (r == 0)
        r = recover_sessions(s, dir);
    if (r == 0)
        r = store_drop_staging(s);
    if (r == 0 && (!s->options.vfs || s->options.reserve_bytes))
        reserve_open(s, dir);
    s->is_open = r == 0;
    return r;
}

/* Returns -EAGAIN if the disk was full and the reserve has been released: a
 * second try may succeed. */
static int
store_open_once(const char *dir, const struct store_options *o, char *why,
                struct store **ret)
{
    CLEANUP(store_freep) struct store *s = calloc(1, sizeof *s);

    if (!s) {
        (void)snprintf(why, STORE_WHY_BYTES, "no memory");
        return -ENOMEM;
    }
    s->lock_hfd = s->reserve_hfd = -1;
    s->may_tidy = s->may_shrink = true;
    if (o)
        s->options = *o;
    if (!s->options.log_pages)
        s->options.log_pages = LOG_PAGES;
    if (!s->options.cache_bytes)
        s->options.cache_bytes = CACHE_BYTES;
    int r = store_open_all(s, dir);
    if (r < 0) {
        memcpy(why, s->why, STORE_WHY_BYTES);
        return r == -ENOSPC && reserve_give_up(s, dir) ? -EAGAIN : r;
    }
    *ret = STEAL(s);
    return 0;
}

int
store_open(const char *dir, const struct store_options *o, char *why,
           struct store **ret)
{
    int r = store_open_once(dir, o, why, ret);

    return r == -EAGAIN ? store_open_once(dir, o, why, ret) : r;
}

void
store_free(struct store *s)
{
    if (!s)
        return;
    if (s->is_open)
        log_close(s);
    store_close_database(s);
    ledger_close(s);
    hfd_closep(&s->reserve_hfd);
    hfd_closep(&s->lock_hfd);
    free(s);
}

const char *
store_why(const struct store *s)
{
    return s->why;
}
