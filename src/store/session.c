/* Rows of sessions, and forks.
 *
 * A fork copies no records: the first layer of the session becomes the parent
 * of two new, empty layers, one for each session. From then on nobody writes to
 * it, so both see the same state for ever. */
#include "store/store_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int
session_no_session(struct store *s, const char *id)
{
    return store_fail(s, -ENOENT, "there is no session %.64s", id);
}

int
session_row_find(struct store *s, const char *id, struct session_row *ret)
{
    SQL *st = sql_start(s, SQL_session_find, "t", id);
    int r = sql_step(s, st);

    if (r < 0)
        return r;
    if (!r)
        return session_no_session(s, id);
    *ret = (struct session_row){
        .number = sqlite3_column_int64(st, 0),
        .layer = sqlite3_column_int64(st, 1),
        .staging = sqlite3_column_int64(st, 2),
    };
    for (int i = 0; i < 5; i++)
        ret->quota[i] = (uint64_t)sqlite3_column_int64(st, 3 + i);
    return 0;
}

/* --- writing */

static int
session_write_row(struct store *s, enum statement name,
                  const struct store_session *w)
{
    const struct store_amounts *q = &w->quota;

    return sql_run(s, name, "tttttttttiiiiiiii", w->id, w->agent, w->label,
                   w->state, w->cause, w->limits, w->options, w->image,
                   w->shell, w->created_ms, w->changed_ms,
                   (int64_t)w->is_interval, q->bytes, q->inodes, q->names,
                   q->pages, q->other);
}

/* Inserts the row. The caller gives it a layer afterwards. */
static int
session_insert(struct store *s, const struct store_session *row,
               int64_t *ret_number)
{
    size_t len = strlen(row->id);

    if (!len || len > 64)
        return store_fail(s, -EINVAL, "a session's id has 1 to 64 bytes");
    int r = session_write_row(s, SQL_session_insert, row);
    if (r == -EEXIST)
        return store_fail(s, r, "session %s exists already", row->id);
    if (r == 0)
        *ret_number = sqlite3_last_insert_rowid(s->db);
    return r;
}

/* Inserts a layer that the session owns, and makes it the first one. */
static int
session_give_layer(struct store *s, int64_t number, const struct layer *l)
{
    struct layer copy = *l;
    int64_t id;

    copy.session = number;
    int r = layer_add(s, &copy, &id);
    return r < 0 ? r : sql_run(s, SQL_session_layer, "ii", number, id);
}

/* Creating counts as the first commit, so the ledger notices a session that is
 * missing altogether. */
static int
session_create(struct store *s, const struct store_session *row,
               const struct layer *l)
{
    struct layer copy = *l;
    int64_t number = 0;

    copy.commits = 1;
    copy.session_row_sum = session_row_sum(row);
    int r = session_insert(s, row, &number);
    if (r == 0)
        r = session_give_layer(s, number, &copy);
    return r < 0 ? r : ledger_claim(s, row->id, copy.commits);
}

int
store_session_create(struct store *s, const struct store_session *row)
{
    int r = store_op_begin(s);

    return r < 0 ? r
                 : store_op_end(s, session_create(s, row, &(struct layer){0}));
}

/* The layer counts this as a commit, and stores the checksum of the new row. */
static int
session_update(struct store *s, const struct store_session *row,
               struct session_row *ret)
{
    struct layer l = {0};

    int r = session_row_find(s, row->id, ret);
    if (r == 0)
        r = layer_get(s, ret->layer, &l);
    if (r == 0)
        r = session_write_row(s, SQL_session_update, row);
    if (r < 0)
        return r;
    l.commits++;
    l.session_row_sum = session_row_sum(row);
    r = layer_put(s, ret->layer, &l);
    return r < 0 ? r : ledger_claim(s, row->id, l.commits);
}

int
store_session_update(struct store *s, const struct store_session *row)
{
    struct session_row f = {0};
    int r = store_op_begin(s);

    return r < 0 ? r : store_op_end(s, session_update(s, row, &f));
}

/* The layer is only disowned. Upkeep removes its records later in small
 * steps. */
int
session_row_drop_staging(struct store *s, int64_t number, int64_t layer)
{
    int r = sql_run(s, SQL_session_staging, "ii", number, (int64_t)0);

    return r < 0 ? r : layer_disown(s, layer);
}

/* A row without a layer is an ended session. The row itself is kept for lists,
 * until upkeep deletes it. */
static int
session_end(struct store *s, const struct store_session *row)
{
    struct session_row f = {0};

    int r = session_update(s, row, &f);
    if (r == 0 && f.staging)
        r = session_row_drop_staging(s, f.number, f.staging);
    if (r == 0)
        r = layer_disown(s, f.layer);
    if (r == 0)
        r = sql_run(s, SQL_session_layer, "ii", f.number, (int64_t)0);
    return r < 0 ? r : ledger_claim(s, row->id, LEDGER_ENDED);
}

int
store_session_end(struct store *s, const struct store_session *row)
{
    int r = store_op_begin(s);

    return r < 0 ? r : store_op_end(s, session_end(s, row));
}

/* Commits that were staged but not finished are dropped, for example those of
 * a worker that has died. */
static int
session_discard(struct store *s, const char *id)
{
    struct session_row f = {0};

    int r = session_row_find(s, id, &f);
    if (r != 0 || !f.staging)
        return r;
    return session_row_drop_staging(s, f.number, f.staging);
}

int
store_discard(struct store *s, const char *session)
{
    int r = store_op_begin(s);

    return r < 0 ? r : store_op_end(s, session_discard(s, session));
}

/* --- forks */

/* The layer of `from` becomes the parent of two new layers, one for each
 * session. If it is empty, nothing would be shared through it: the session
 * keeps it, and the new session gets the same parent. */
static int
session_fork_layer(struct store *s, const struct session_row *from,
                   const struct store_session *to)
{
    struct layer l;
    int64_t is_empty = 0;

    int r = layer_get(s, from->layer, &l);
    if (r != 0)
        return r;
    r = sql_number(s, &is_empty, SQL_layer_is_empty, "i", from->layer);
    if (r < 0)
        return r;
    if (is_empty)
        return session_create(s, to, &l);
    l.parent = from->layer;
    r = layer_disown(s, from->layer);
    if (r == 0)
        r = session_give_layer(s, from->number, &l);
    return r < 0 ? r : session_create(s, to, &l);
}

int
store_fork(struct store *s, const char *from, const struct store_session *to)
{
    struct session_row f = {0};

    int r = store_op_begin(s);
    if (r < 0)
        return r;
    r = session_row_find(s, from, &f);
    return store_op_end(s, r < 0 ? r : session_fork_layer(s, &f, to));
}

/* --- reading */

static struct store_amounts
session_amounts(sqlite3_stmt *st, int i)
{
    return (struct store_amounts){
        .bytes = (uint64_t)sqlite3_column_int64(st, i),
        .inodes = (uint64_t)sqlite3_column_int64(st, i + 1),
        .names = (uint64_t)sqlite3_column_int64(st, i + 2),
        .pages = (uint64_t)sqlite3_column_int64(st, i + 3),
        .other = (uint64_t)sqlite3_column_int64(st, i + 4),
    };
}

static uint64_t
session_mix_text(uint64_t h, const char *text)
{
    return store_mix(h, text ? text : "", text ? strlen(text) : 0);
}

/* Covers everything that an update writes; created_ms is not among that. */
int64_t
session_row_sum(const struct store_session *row)
{
    uint64_t h = session_mix_text(0, row->id);

    h = session_mix_text(session_mix_text(h, row->agent), row->label);
    h = session_mix_text(session_mix_text(h, row->state), row->cause);
    h = session_mix_text(session_mix_text(h, row->limits), row->options);
    h = session_mix_text(session_mix_text(h, row->image), row->shell);
    h = store_mix(h + row->is_interval, &row->changed_ms,
                  sizeof row->changed_ms);
    return (int64_t)store_mix(h, &row->quota, sizeof row->quota);
}

int
session_row_check(struct store *s, const struct store_session *row)
{
    struct session_row f = {0};
    struct layer l;

    int r = session_row_find(s, row->id, &f);
    if (r == 0)
        r = layer_get(s, f.layer, &l);
    if (r == 0 &&
        (l.session != f.number || l.session_row_sum != session_row_sum(row)))
        return store_fail(s, -EBADMSG, "session %s: its row is damaged",
                          row->id);
    return r;
}

/* Visits sessions by number instead of keeping a statement open, so that
 * callers may write in between. */
int
session_row_next(struct store *s, int64_t *number, char ret_id[65],
                 int64_t *ret_layer)
{
    SQL *st = sql_start(s, SQL_session_next, "i", *number);
    int r = sql_step(s, st);

    if (r <= 0)
        return r;
    *number = sqlite3_column_int64(st, 0);
    (void)snprintf(ret_id, 65, "%s", sql_text(st, 1));
    *ret_layer = sqlite3_column_int64(st, 2);
    return 1;
}

/* The texts are valid during the callback only: they belong to SQLite. */
static int
session_give_row(sqlite3_stmt *st, store_session_fn *fn, void *arg)
{
    const struct store_session row = {
        .number = (uint64_t)sqlite3_column_int64(st, 0),
        .id = sql_text(st, 1),
        .agent = sql_text(st, 2),
        .label = sql_text(st, 3),
        .state = sql_text(st, 4),
        .cause = sql_text(st, 5),
        .limits = sql_text(st, 6),
        .options = sql_text(st, 7),
        .image = sql_text(st, 8),
        .shell = sql_text(st, 9),
        .created_ms = sqlite3_column_int64(st, 10),
        .changed_ms = sqlite3_column_int64(st, 11),
        .is_interval = sqlite3_column_int(st, 12),
        .quota = session_amounts(st, 13),
        .used = session_amounts(st, 18),
        .has_ended = !sqlite3_column_int64(st, 23),
    };

    return fn(arg, &row);
}

int
store_session_get(struct store *s, const char *id, store_session_fn *fn,
                  void *arg)
{
    SQL *st = sql_start(s, SQL_session_get, "t", id);
    int r = sql_step(s, st);

    if (r < 0)
        return r;
    return r ? session_give_row(st, fn, arg) : session_no_session(s, id);
}

int
store_session_list(struct store *s, const struct store_filter *f,
                   store_session_fn *fn, void *arg)
{
    SQL *st = sql_start(s, SQL_session_list, "ittii", (int64_t)f->after,
                        f->agent, f->state, (int64_t)f->with_ended,
                        f->max ? (int64_t)f->max : INT64_C(-1));
    int r = sql_step(s, st);

    while (r > 0) {
        r = session_give_row(st, fn, arg);
        if (r)
            return r;
        r = sql_step(s, st);
    }
    return r;
}
