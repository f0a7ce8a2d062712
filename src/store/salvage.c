/* Commits behind a damaged frame of the log.
 *
 * Problem: two states of the database are available. SQLite recovers the state
 * up to the first damaged frame, which is consistent but misses later commits.
 * All good frames together contain these commits. But a page whose last version
 * was in a damaged frame is there in an older version, so its rows may come
 * from another commit.
 *
 * Idea: the second state is built in a folder of its own, `salvage`, with a
 * hard link to the database file and a log of the good frames. If it is
 * consistent (the pages fit together, and every session can be read to its end
 * with the right digest), its log becomes the store's. If not, sessions are
 * imported one by one, and a session that is inconsistent there stays as SQLite
 * recovered it. Each session thus has one state or the other, as a whole.
 *
 * The folder stays until that is durable, and nothing is moved from a log to
 * the database before. An interrupted recovery therefore starts again. */
#include "base/buf.h"
#include "base/hfd.h"
#include "record/record.h"
#include "store/store_impl.h"
#include "store/wal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 << 10 };

/* --- the folder */

/* Opens the store's folder, to which all names below are relative. */
static int
salvage_open_folder(const char *dir)
{
    return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void
salvage_remove_folder(int dir_hfd, const char *name)
{
    static const char *const files[] = {"store.db", "store.db-wal", "lock"};
    char path[64];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", name, files[i]);
        (void)unlinkat(dir_hfd, path, 0);
    }
    (void)unlinkat(dir_hfd, name, AT_REMOVEDIR);
}

bool
salvage_is_there(const char *dir)
{
    CLEANUP(hfd_closep) int dir_hfd = salvage_open_folder(dir);

    return faccessat(dir_hfd, "salvage/store.db-wal", F_OK, 0) == 0;
}

void
salvage_remove(const char *dir)
{
    CLEANUP(hfd_closep) int dir_hfd = salvage_open_folder(dir);

    salvage_remove_folder(dir_hfd, "salvage");
}

static int
salvage_write_log(int dir_hfd, sqlite3_file *log, const struct wal *w)
{
    enum { FLAGS = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC };
    CLEANUP(hfd_closep)
    int hfd = openat(dir_hfd, "salvage.new/store.db-wal", FLAGS, 0600);

    return hfd < 0 ? -errno : wal_write_good(log, w, hfd);
}

/* The folder gets its final name only when it is complete and synced, so a
 * crash never leaves a half-made `salvage`. The database is a hard link,
 * because it may be large and is only read. */
static int
salvage_make_folder(int dir_hfd, sqlite3_file *log, const struct wal *w)
{
    salvage_remove_folder(dir_hfd, "salvage.new");
    if (mkdirat(dir_hfd, "salvage.new", 0700) ||
        linkat(dir_hfd, "store.db", dir_hfd, "salvage.new/store.db", 0))
        return -errno;
    int r = salvage_write_log(dir_hfd, log, w);
    if (r < 0)
        return r;
    return renameat(dir_hfd, "salvage.new", dir_hfd, "salvage") ||
                   fsync(dir_hfd)
               ? -errno
               : 0;
}

/* If no good frame follows the first bad one, SQLite has recovered everything
 * already. */
int
salvage_make(struct store *s, const char *dir)
{
    CLEANUP(recover_log_putp) sqlite3_file *log = NULL;
    CLEANUP(wal_fini) struct wal w = {0};

    int r = recover_log_open(s, dir, &log);
    if (r <= 0)
        return r;
    r = wal_scan(log, &w);
    if (r < 0)
        return store_fail(s, r, "the store's log cannot be read");
    if (w.n <= w.n_prefix)
        return 0;
    CLEANUP(hfd_closep) int dir_hfd = salvage_open_folder(dir);
    r = salvage_make_folder(dir_hfd, log, &w);
    return r < 0 ? store_fail(s, r,
                              "the log is damaged, and the commits behind the "
                              "damage cannot be copied to %s/salvage.new: %s",
                              dir, strerror(-r))
                 : 1;
}

/* The copy shares the database file with the store, which holds SQLite's lock
 * on it. Nobody writes to it, so the copy is opened without locks. */
static int
salvage_open_copy(struct store *s, const char *dir, struct store **ret)
{
    const struct store_options o = {
        .vfs = "unix-none", /* the store has locked it */
        .is_old = true,
        .is_copy = true};
    char path[STORE_PATH_BYTES], why[STORE_WHY_BYTES];

    (void)snprintf(path, sizeof path, "%.900s/salvage", dir);
    int r = store_open(path, &o, why, ret);
    return r < 0 ? store_fail(s, r, "%s", why) : 0;
}

/* --- all of it */

/* Reads a session to its end: this verifies all records, chunks and the
 * digest. */
static int
salvage_read_session(void *arg, const struct store_session *row)
{
    struct store *copy = arg;
    struct store_cursor cursor = {0};
    struct buf frames;
    int r = session_row_check(copy, row);

    buf_init(&frames, SIZE_MAX);
    while (r == 0 && !cursor.is_done) {
        frames.len = 0;
        r = store_read(copy, row->id, PIECE_BYTES, &cursor, &frames);
    }
    buf_fini(&frames);
    return r;
}

static int
salvage_check_pages(struct store *copy)
{
    SQL *st = sql_start(copy, SQL_pages_check, "");
    int r = sql_step(copy, st);

    if (r < 0)
        return r;
    return r && !strcmp(sql_text(st, 0), "ok") ? 0 : -EBADMSG;
}

/* Returns 0 if the copy has every claimed commit and is consistent, and
 * -EBADMSG if not. */
static int
salvage_check_copy(struct store *s, struct store *copy)
{
    const struct ledger *l = &s->ledger;
    int r = salvage_check_pages(copy);

    for (size_t i = 0; i < l->n_old && r == 0; i++) {
        char id[sizeof l->old->id + 1] = "";
        int64_t has = 0;
        memcpy(id, l->old[i].id, sizeof id - 1);
        r = sql_number(copy, &has, SQL_session_commits, "t", id);
        if (r == 0 && (uint64_t)has < l->old[i].commits &&
            (has || l->old[i].commits != LEDGER_ENDED))
            r = -EBADMSG;
    }
    return r < 0 ? r
                 : store_session_list(copy, &(struct store_filter){0},
                                      salvage_read_session, copy);
}

/* Replacing the log is one rename. The new log has salts of its own, so the
 * ledger must allow any log before. */
static int
salvage_take_log(struct store *s, const char *dir)
{
    CLEANUP(hfd_closep) int dir_hfd = salvage_open_folder(dir);

    int r = ledger_set_log(s, LEDGER_LOG_ANY);
    if (r < 0)
        return r;
    if (renameat(dir_hfd, "salvage/store.db-wal", dir_hfd, "store.db-wal") ||
        fsync(dir_hfd))
        return store_fail(s, -errno, "%s/store.db-wal: %s", dir,
                          strerror(errno));
    salvage_remove_folder(dir_hfd, "salvage");
    return 1;
}

int
salvage_install(struct store *s, const char *dir)
{
    CLEANUP(store_freep) struct store *copy = NULL;

    int r = salvage_open_copy(s, dir, &copy);
    if (r == 0)
        r = salvage_check_copy(s, copy);
    if (r == 0)
        return salvage_take_log(s, dir);
    return r == -EBADMSG ? 0 : r;
}

/* --- session by session */

/* The store and the copy that sessions are imported from. */
struct salvage_import {
    struct store *to, *from;
};

/* Like store_read, without the end frame, which commits do not contain. */
static int
salvage_read_piece(struct store *from, const char *id,
                   struct store_cursor *cursor, struct buf *frames)
{
    frames->len = 0;
    int r = store_read(from, id, PIECE_BYTES, cursor, frames);
    if (r == 0 && cursor->is_done)
        frames->len -= RECORD_HEAD_BYTES + RECORD_END_BYTES;
    return r;
}

/* Copies a session as one commit in parts, so that it is replaced as a whole or
 * not at all. */
static int
salvage_copy_records(const struct salvage_import *m, const char *id)
{
    struct store_cursor cursor = {0};
    struct buf frames;
    int r = 0;

    buf_init(&frames, SIZE_MAX);
    while (r == 0 && !cursor.is_done) {
        r = salvage_read_piece(m->from, id, &cursor, &frames);
        struct store_batch b = {.session = id,
                                .frames = frames.p,
                                .len = frames.len,
                                .is_last = cursor.is_done};
        if (r == 0)
            r = store_commit(m->to, &b);
    }
    buf_fini(&frames);
    return r;
}

/* Gives the session an empty staging layer without a parent. The records of the
 * copy then replace all of its records, and the last part makes the layer the
 * session's. That part also counts as a commit, after which the session has as
 * many as the copy. */
static int
salvage_begin_records(const struct salvage_import *m,
                      const struct store_session *row)
{
    int64_t commits = 0, layer = 0;
    struct session_row f = {0};

    int r = sql_number(m->from, &commits, SQL_session_commits, "t", row->id);
    if (r == 0)
        r = session_row_find(m->to, row->id, &f);
    if (r == 0 && f.staging)
        r = session_row_drop_staging(m->to, f.number, f.staging);
    if (r < 0)
        return r;
    const struct layer l = {.session = f.number,
                            .commits = (uint64_t)commits - 1,
                            .session_row_sum = session_row_sum(row)};
    r = layer_add(m->to, &l, &layer);
    return r < 0 ? r
                 : sql_run(m->to, SQL_session_staging, "ii", f.number, layer);
}

static int
import_session(const struct salvage_import *m, const struct store_session *row)
{
    if (row->has_ended)
        return store_session_end(m->to, row);
    int r = store_session_update(m->to, row);
    if (r == -ENOENT)
        r = store_session_create(m->to, row);
    if (r == 0)
        r = salvage_begin_records(m, row);
    return r < 0 ? r : salvage_copy_records(m, row->id);
}

static int
salvage_import_row(void *arg, const struct store_session *row)
{
    const struct salvage_import *m = arg;

    int r = row->has_ended ? 0 : session_row_check(m->from, row);
    if (r == 0)
        r = store_op_begin(m->to);
    return r < 0 ? r : store_op_end(m->to, import_session(m, row));
}

/* Returns 1 if the copy has more commits of the session than the store. */
static int
salvage_is_newer(const struct salvage_import *m, const char *id, uint64_t had)
{
    int64_t has = 0;
    int r = sql_number(m->from, &has, SQL_session_commits, "t", id);

    return r < 0 ? r : (uint64_t)has > had;
}

static int
salvage_copy_event(void *arg, const struct store_event *e)
{
    const struct salvage_import *m = arg;

    return sql_run(m->to, SQL_event_copy, "iittttt", (int64_t)e->seq,
                   e->time_ms, e->session, e->agent, e->kind, e->cause,
                   e->figures);
}

/* A session that cannot be imported stays as it is, and is reported as lost up
 * to there. Events that follow the newest one of the store are copied, too. */
static int
salvage_import_all(const struct salvage_import *m)
{
    const struct ledger *l = &m->to->ledger;
    int64_t last = 0;
    int r = 0;

    for (size_t i = 0; i < l->n_old && r == 0; i++) {
        char id[sizeof l->old->id + 1] = "";
        memcpy(id, l->old[i].id, sizeof id - 1);
        if (!l->old[i].is_met)
            r = salvage_is_newer(m, id, l->old[i].had);
        if (r > 0)
            r = store_session_get(m->from, id, salvage_import_row, (void *)m);
        if (r == -EBADMSG || r == -ENOENT || r == -EDQUOT)
            r = 0; /* reported as lost later */
    }
    if (r == 0)
        r = sql_number(m->to, &last, SQL_event_last, "");
    if (r == 0)
        r = store_event_list(m->from, NULL, (uint64_t)last, 0,
                             salvage_copy_event, (void *)m);
    return r == -EBADMSG ? 0 : r;
}

int
salvage_import(struct store *s, const char *dir)
{
    CLEANUP(store_freep) struct store *copy = NULL;

    int r = salvage_open_copy(s, dir, &copy);
    if (r < 0) /* nothing of it can be used */
        return r == -EBADMSG || r == -EPROTO ? 0 : r;
    return salvage_import_all(&(struct salvage_import){s, copy});
}
