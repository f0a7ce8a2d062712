/* Opening a store compares it with the ledger: is every acknowledged commit
 * there? Each loss becomes a row of the table `damage`, which the supervisor
 * reports as events, and fsck as findings.
 *
 * A torn end of the log is normal: a kill or a power loss interrupts a
 * transaction, and some of its frames are there. Only the ledger distinguishes
 * this from damage: it does not claim a transaction whose sync had not
 * returned. If all claims are met, nothing was lost, whatever the log looks
 * like. */
#include "store/store_impl.h"
#include "store/wal.h"
#include "store/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the log */

int
recover_log_open(struct store *s, const char *dir, sqlite3_file **ret)
{
    enum { FLAGS = SQLITE_OPEN_READONLY | SQLITE_OPEN_SUPER_JOURNAL };
    sqlite3_vfs *vfs = sqlite3_vfs_find(s->options.vfs);
    sqlite3_file *f = vfs ? calloc(1, (size_t)vfs->szOsFile) : NULL;
    char path[STORE_PATH_BYTES];

    if (!f)
        return store_fail(s, -ENOMEM, "no memory");
    (void)snprintf(path, sizeof path, "%s/store.db-wal", dir);
    if (vfs->xOpen(vfs, path, f, FLAGS, NULL)) {
        free(f);
        return 0;
    }
    *ret = f;
    return 1;
}

void
recover_log_put(sqlite3_file *f)
{
    if (f && f->pMethods)
        (void)f->pMethods->xClose(f);
    free(f);
}

/* The foreign log is kept for an expert, under a name that SQLite does not
 * read. */
static int
recover_set_aside(struct store *s, const char *dir)
{
    char path[STORE_PATH_BYTES], aside[STORE_PATH_BYTES + 16];

    (void)snprintf(path, sizeof path, "%s/store.db-wal", dir);
    (void)snprintf(aside, sizeof aside, "%s.damaged", path);
    s->is_log_foreign = true;
    return rename(path, aside)
               ? store_fail(s, -errno, "%s: %s", path, strerror(errno))
               : 0;
}

/* Runs before SQLite reads the log. Afterwards any log is allowed, because this
 * process will write one. A ledger that cannot record that would later reject
 * good logs, so it is given up. */
int
recover_check_log(struct store *s, const char *dir)
{
    CLEANUP(recover_log_putp) sqlite3_file *f = NULL;
    uint64_t salts;

    int r = s->ledger.file ? 0 : ledger_open(s, dir);
    if (r == 0)
        r = recover_log_open(s, dir, &f);
    if (r > 0 && wal_salts(f, &salts) && !ledger_knows_log(s, salts))
        r = recover_set_aside(s, dir);
    if (r >= 0 && ledger_set_log(s, LEDGER_LOG_ANY) < 0)
        r = ledger_give_up(s);
    return r < 0 ? r : 0;
}

/* --- claims */

/* Returns the number of a session's last commit, or 0 if there is no such
 * session. LEDGER_ENDED (-1 in SQL) stands for an ended one. A session that
 * cannot be read counts as missing. */
static int
recover_commits_of(struct store *s, const char *id, uint64_t *ret)
{
    char text[sizeof((struct claim *)0)->id + 1] = "";
    int64_t n = 0;

    memcpy(text, id, sizeof text - 1);
    int r = sql_number(s, &n, SQL_session_commits, "t", text);
    *ret = r < 0 ? 0 : (uint64_t)n;
    return r == -EBADMSG ? 0 : r;
}

/* The claim of an ended session is also met by no session at all, because ended
 * sessions are forgotten after some time. */
static bool
recover_is_met(const struct claim *c, uint64_t has)
{
    if (c->commits == LEDGER_ENDED)
        return !has || has == LEDGER_ENDED;
    return has >= c->commits;
}

/* Returns the number of claims that the store does not meet. */
static int
recover_check_claims(struct store *s)
{
    struct ledger *l = &s->ledger;
    int n = 0, r = 0;

    for (size_t i = 0; i < l->n_old && r == 0; i++) {
        struct claim *c = &l->old[i];
        r = recover_commits_of(s, c->id, &c->had);
        c->is_met = recover_is_met(c, c->had);
        n += !c->is_met;
    }
    return r < 0 ? r : n;
}

/* A folder `salvage` that exists already comes from a recovery that was
 * interrupted. */
int
recover_log(struct store *s, const char *dir)
{
    int n = recover_check_claims(s);

    if (n < 0)
        return n;
    int r = salvage_is_there(dir) ? 1 : n ? salvage_make(s, dir) : 0;
    return r > 0 ? salvage_install(s, dir) : r;
}

/* --- reports */

static int
recover_report(struct store *s, const char *id, const char *text)
{
    return sql_run(s, SQL_damage_insert, "tt", id, text);
}

static int
recover_end_as_row(void *arg, const struct store_session *row)
{
    struct store_session ended = *row;

    ended.state = "ended";
    return store_session_end(arg, &ended);
}

/* The session has lost only its end, which is repeated. */
static int
recover_end_again(struct store *s, const char *id)
{
    int r = store_session_get(s, id, recover_end_as_row, s);

    return r < 0
               ? r
               : recover_report(
                     s, id,
                     "the end of the session was lost, and has been repeated");
}

/* Reports a claim that the log did not meet when it was opened. Salvage has run
 * since then, so its commits are either recovered or lost. */
static int
recover_report_claim(struct store *s, const struct claim *c)
{
    char id[sizeof c->id + 1] = "", text[160];
    unsigned long long had = c->had, to = c->commits;
    uint64_t has;

    memcpy(id, c->id, sizeof c->id);
    int r = recover_commits_of(s, id, &has);
    if (r < 0)
        return r;
    if (c->commits == LEDGER_ENDED)
        return recover_is_met(c, has) ? 0 : recover_end_again(s, id);
    if (recover_is_met(c, has))
        (void)snprintf(text, sizeof text,
                       "the log was damaged: commits %llu to %llu were behind "
                       "the damage, and are recovered",
                       had + 1, to);
    else if (has)
        (void)snprintf(text, sizeof text,
                       "the log was damaged: commits %llu to %llu are lost, "
                       "the session has the state of commit %llu",
                       (unsigned long long)has + 1, to,
                       (unsigned long long)has);
    else
        (void)snprintf(text, sizeof text,
                       "the log was damaged: the session is lost, with its "
                       "%llu commits",
                       to);
    return recover_report(s, id, text);
}

static int
recover_report_claims(struct store *s)
{
    const struct ledger *l = &s->ledger;
    int n = 0, r = 0;

    for (size_t i = 0; i < l->n_old && r == 0; i++) {
        if (l->old[i].is_met)
            continue;
        n++;
        r = recover_report_claim(s, &l->old[i]);
    }
    if (r == 0 && n)
        r = recover_report(
            s, "",
            "the log does not have all that was acknowledged: a part "
            "of it is damaged or missing");
    if (r == 0 && s->is_log_foreign)
        r = recover_report(
            s, "",
            "the log was not the one that belongs to the database; it "
            "is kept as store.db-wal.damaged");
    return r;
}

/* --- rows of sessions */

static int
recover_take_sum(void *arg, const struct store_session *row)
{
    *(int64_t *)arg = session_row_sum(row);
    return 0;
}

/* Stores the checksum of the row as it is in the layer. */
static int
recover_accept_row(struct store *s, const char *id, int64_t layer)
{
    struct layer l;
    int64_t sum = 0;

    int r = store_session_get(s, id, recover_take_sum, &sum);
    if (r == 0)
        r = layer_get(s, layer, &l);
    l.session_row_sum = sum;
    return r < 0 ? r : layer_put(s, layer, &l);
}

/* Accepts the row as it is, so that it is reported only once. */
static int
recover_report_row(struct store *s, const char *id, int64_t layer)
{
    int r = recover_accept_row(s, id, layer);

    if (r < 0 && r != -EBADMSG && r != -ENOENT)
        return r;
    return recover_report(s, id,
                          "the row of the session is damaged: label, limits, "
                          "options or state may be wrong");
}

static int
recover_check_one(void *arg, const struct store_session *row)
{
    return session_row_check(arg, row);
}

/* Compares all rows of sessions with their checksums, and with `reports` lists
 * those that differ. A table that cannot be read to its end is reported as a
 * whole. */
static int
recover_check_rows(struct store *s, bool *is_bad, bool reports)
{
    int64_t number = 0, layer;
    char id[65];
    int r;

    while ((r = session_row_next(s, &number, id, &layer)) > 0) {
        r = store_session_get(s, id, recover_check_one, s);
        if (r == 0)
            continue;
        *is_bad = true;
        if (r == -EBADMSG || r == -ENOENT)
            r = reports ? recover_report_row(s, id, layer) : 0;
        if (r < 0)
            return r;
    }
    if (r != -EBADMSG)
        return r;
    *is_bad = true;
    return reports ? recover_report(s, "", store_why(s)) : 0;
}

/* --- all */

/* Imports and reports are one transaction: after a crash, either both are
 * there, or the recovery starts again. */
static int
recover_write_reports(struct store *s, const char *dir)
{
    bool has_bad;

    int r = store_begin(s, true);
    if (r < 0)
        return r;
    r = salvage_is_there(dir) ? salvage_import(s, dir) : 0;
    if (r == 0)
        r = recover_report_claims(s);
    if (r == 0)
        r = recover_check_rows(s, &has_bad, true);
    if (r == 0)
        return store_end(s);
    store_undo(s);
    return r;
}

/* Starts a new generation: from now on the ledger claims only commits that the
 * store has. */
static int
recover_begin_ledger(struct store *s)
{
    struct ledger *l = &s->ledger;

    free(STEAL(l->old));
    l->n_old = 0;
    l->end = 0;
    return ledger_renew(s) < 0 ? ledger_give_up(s) : 0;
}

/* A store without findings is opened without a write. */
int
recover_sessions(struct store *s, const char *dir)
{
    bool is_bad = s->is_log_foreign || salvage_is_there(dir);

    for (size_t i = 0; i < s->ledger.n_old; i++)
        is_bad |= !s->ledger.old[i].is_met;
    int r = recover_check_rows(s, &is_bad, false);
    if (r == 0 && is_bad)
        r = recover_write_reports(s, dir);
    if (r < 0)
        return r;
    salvage_remove(dir);
    return recover_begin_ledger(s);
}

/* --- formats that had no digests */

/* Computes the digest of a layer as of now. A store of format 1 has no earlier
 * evidence, so its present state becomes the accepted one. */
static int
recover_upgrade_layer(struct store *s, int64_t id)
{
    CLEANUP(layer_chain_fini) struct chain c = {0};
    CLEANUP(walk_fini) struct record_walk w = {0};
    struct layer l = {0};

    int r = layer_chain_init(s, id, &c);
    if (r == 0)
        r = walk_init(&w, s, &c, NULL, 0);
    if (r == 0)
        r = layer_get(s, id, &l);
    if (r < 0)
        return r;
    while ((r = walk_next(&w)) > 0)
        l.digest += layer_digest_of(w.key, w.key_len, w.len, w.sum);
    if (r < 0)
        return r;
    l.commits = 1;
    return layer_put(s, id, &l);
}

/* A damaged session keeps its old digest. It is found when it is read or
 * checked, and must not prevent the upgrade of the others. */
int
recover_upgrade(struct store *s)
{
    int64_t number = 0, layer;
    char id[65];
    int r;

    while ((r = session_row_next(s, &number, id, &layer)) > 0) {
        r = recover_upgrade_layer(s, layer);
        if (r == 0)
            r = recover_accept_row(s, id, layer);
        if (r < 0 && r != -EBADMSG)
            return r;
    }
    return r;
}
