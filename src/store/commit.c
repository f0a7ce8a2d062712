/* Commits: writes records of an untrusted worker into the first layer of a
 * session, and checks its quota.
 *
 * Problem: a commit may be larger than memory, and must still be atomic. It
 * arrives in parts, each in a transaction of its own, and the worker may die
 * between two parts.
 *
 * Idea: the parts go to a separate layer (`staging`) whose parent is the
 * session's first layer. Nobody reads a staging layer, so an incomplete commit
 * is invisible, and dropping the layer undoes it. The last part makes it the
 * first layer of the session, which is a single update. Upkeep later merges the
 * two layers. A commit in one part writes to the first layer directly. */
#include "record/record.h"
#include "store/store_impl.h"

#include <errno.h>
#include <string.h>

/* A commit under way. */
struct commit_writer {
    struct store *s;
    int64_t layer;
    struct chain chain; /* begins with it */
    struct layer now;   /* the layer after this commit */
    bool is_weighed;    /* nothing is written */
};

/* The visible record under a key. */
struct seen {
    bool is_there, is_own; /* in the first layer */
    bool is_same;          /* as the value that is put */
    uint64_t len;
    int64_t chunk; /* 0: the value is in the record */
    int64_t sum;
};

struct commit_value {
    const uint8_t *p;
    size_t len;
    int64_t chunk; /* 0: none */
};

/* Returns 1 and the record of the i-th layer of the chain, or 0 if the layer
 * does not have the key. A record without a value (is_there is false) hides
 * those of the parents. */
static int
commit_look_in(struct commit_writer *w, size_t i, const uint8_t *key,
               size_t key_len, const struct commit_value *v, struct seen *ret)
{
    SQL *st =
        sql_start(w->s, SQL_record_find, "ib", w->chain.ids[i], key, key_len);
    int r = sql_step(w->s, st);

    if (r <= 0)
        return r;
    *ret = (struct seen){
        .is_there = sqlite3_column_type(st, 0) != SQLITE_NULL,
        .is_own = !i,
        .len = (uint64_t)sqlite3_column_int64(st, 0),
        .chunk = sqlite3_column_int64(st, 1),
        .sum = sqlite3_column_int64(st, 3),
    };
    if (!v || !ret->is_there || ret->len != v->len || ret->chunk != v->chunk)
        return 1;
    const void *p = sqlite3_column_blob(st, 2);
    ret->is_same = v->chunk || !v->len || (p && !memcmp(p, v->p, v->len));
    return 1;
}

/* The nearest layer that has the key decides. */
static int
commit_look(struct commit_writer *w, const uint8_t *key, size_t key_len,
            const struct commit_value *v, struct seen *ret)
{
    *ret = (struct seen){0};
    for (size_t i = 0; i < w->chain.n; i++) {
        int r = commit_look_in(w, i, key, key_len, v, ret);
        if (r)
            return r < 0 ? r : 0;
    }
    return 0;
}

/* The record is about to be replaced or removed: its amounts and its chunk do
 * not count any more. */
static int
commit_leave(struct commit_writer *w, const uint8_t *key, size_t key_len,
             const struct seen *old)
{
    if (old->is_there)
        layer_charge(&w->now, key, key_len, old->len, old->sum, false);
    if (!old->is_own || !old->chunk || w->is_weighed)
        return 0;
    w->s->may_tidy = true;
    return sql_run(w->s, SQL_loose_chunk, "i", old->chunk);
}

/* Charges the layer. A commit that is only weighed ends there. */
static int
commit_write_value(struct commit_writer *w, const uint8_t *key, size_t key_len,
                   const struct commit_value *v, bool is_own)
{
    enum statement st = is_own ? SQL_record_update : SQL_record_insert;
    int64_t len = (int64_t)v->len;
    int64_t sum = store_record_sum(key, key_len, v->p, v->len, v->chunk);

    layer_charge(&w->now, key, key_len, v->len, sum, true);
    if (w->is_weighed)
        return 0;
    return v->chunk ? sql_run(w->s, st, "ibinii", w->layer, key, key_len, len,
                              v->chunk, sum)
                    : sql_run(w->s, st, "ibibni", w->layer, key, key_len, len,
                              v->p, v->len, sum);
}

/* The key is not there, whatever the parents have. */
static int
commit_write_gone(struct commit_writer *w, const uint8_t *key, size_t key_len,
                  bool is_own)
{
    if (w->is_weighed)
        return 0;
    if (w->chain.n == 1)
        return sql_run(w->s, SQL_record_delete, "ib", w->layer, key, key_len);
    return sql_run(w->s, is_own ? SQL_record_update : SQL_record_insert,
                   "ibnnnn", w->layer, key, key_len);
}

/* Contents of files are chunks unless they are short; what changes often is
 * not, as long as it fits into a page. */
static bool
commit_is_chunk(const uint8_t *key, size_t len)
{
    return len > (*key == RECORD_BLOCK ? BLOCK_INLINE_MAX : INLINE_MAX);
}

/* A value that is there already is not written again. The chunk is stored
 * first, because equal large values are recognised by the number of their
 * chunk. */
static int
commit_put(struct commit_writer *w, const uint8_t *key, size_t key_len,
           const uint8_t *p, size_t len)
{
    struct commit_value v = {p, len, 0};
    struct seen old = {0};
    int r = 0;

    if (commit_is_chunk(key, len) && !w->is_weighed)
        r = store_chunk_put(w->s, p, len, &v.chunk);
    if (r == 0)
        r = commit_look(w, key, key_len, &v, &old);
    if (r < 0 || old.is_same)
        return r;
    r = commit_leave(w, key, key_len, &old);
    return r < 0 ? r : commit_write_value(w, key, key_len, &v, old.is_own);
}

static int
commit_remove_key(struct commit_writer *w, const uint8_t *key, size_t key_len)
{
    struct seen old;

    int r = commit_look(w, key, key_len, NULL, &old);
    if (r < 0 || !old.is_there)
        return r;
    r = commit_leave(w, key, key_len, &old);
    if (r < 0)
        return r;
    return commit_write_gone(w, key, key_len, old.is_own);
}

/* --- frames */

static int
commit_apply(struct commit_writer *w, const struct record_head *h,
             const uint8_t *key)
{
    const uint8_t *value = h->op == RECORD_PUT ? key + h->key_len : NULL;

    if (h->op == RECORD_END ||
        record_check(key, h->key_len, value, h->value_len))
        return store_fail(w->s, -EPROTO, "a record is malformed");
    return value ? commit_put(w, key, h->key_len, value, h->value_len)
                 : commit_remove_key(w, key, h->key_len);
}

static int
commit_apply_all(struct commit_writer *w, const uint8_t *p, size_t len)
{
    struct record_head h;

    while (len) {
        if (len < RECORD_HEAD_BYTES || record_head_get(p, &h) ||
            len - RECORD_HEAD_BYTES < h.key_len + (size_t)h.value_len)
            return store_fail(w->s, -EPROTO,
                              "a record is cut off or malformed");
        int r = commit_apply(w, &h, p + RECORD_HEAD_BYTES);
        if (r < 0)
            return r;
        size_t n = RECORD_HEAD_BYTES + h.key_len + (size_t)h.value_len;
        p += n;
        len -= n;
    }
    return 0;
}

/* --- quotas */

static int
commit_check_one(struct store *s, const char *what, uint64_t before,
                 uint64_t now, uint64_t quota)
{
    if (!quota || now <= quota || now <= before)
        return 0;
    return store_fail(s, -EDQUOT,
                      "more %s than the quota allows: %llu, not %llu", what,
                      (unsigned long long)now, (unsigned long long)quota);
}

/* Removals may come after additions, so parts of a commit may use twice the
 * quota. A session above its quota may still remove. */
static int
commit_check_quota(struct commit_writer *w, const struct session_row *f,
                   const struct store_amounts *was, bool is_last)
{
    const struct store_amounts *now = &w->now.used;
    uint64_t times = is_last ? 1 : 2;

    const struct {
        const char *what;
        uint64_t was, now;
    } rows[] = {
        {"bytes of files", was->bytes, now->bytes},
        {"inodes", was->inodes, now->inodes},
        {"names of files", was->names, now->names},
        {"pages of the shell", was->pages, now->pages},
        {"bytes of the shell's state and history", was->other, now->other},
    };
    int r = 0;
    for (int i = 0; i < 5 && r == 0; i++)
        r = commit_check_one(w->s, rows[i].what, rows[i].was, rows[i].now,
                             times * f->quota[i]);
    return r;
}

/* --- commits */

/* Nothing of the session is written: parts have a layer of their own, which
 * becomes the session's with the last. */
static int
commit_open_layer(struct store *s, const struct session_row *f, bool is_last,
                  int64_t *ret_layer)
{
    struct layer l;

    *ret_layer = f->staging ? f->staging : f->layer;
    if (f->staging || is_last)
        return 0;
    int r = layer_get(s, f->layer, &l);
    if (r < 0)
        return r;
    l.parent = f->layer;
    l.session = f->number;
    r = layer_add(s, &l, ret_layer);
    return r < 0 ? r
                 : sql_run(s, SQL_session_staging, "ii", f->number, *ret_layer);
}

static int
commit_close_staging(struct store *s, const struct session_row *f)
{
    int r = sql_run(s, SQL_session_staging, "ii", f->number, (int64_t)0);

    if (r == 0)
        r = sql_run(s, SQL_session_layer, "ii", f->number, f->staging);
    return r < 0 ? r : layer_disown(s, f->layer);
}

/* A batch without any change leaves the layer as it was. It does not count as a
 * commit, so nothing is written for it. */
static int
commit_write_batch(struct commit_writer *w, const struct session_row *f,
                   const struct store_batch *b)
{
    struct layer before = w->now;

    int r = w->layer == f->layer ? 0 : layer_get(w->s, f->layer, &before);
    if (r == 0)
        r = commit_apply_all(w, b->frames, b->len);
    if (r == 0)
        r = commit_check_quota(w, f, &before.used, b->is_last);
    if (r < 0 || !memcmp(&before, &w->now, sizeof before))
        return r;
    w->now.commits += b->is_last;
    r = layer_put(w->s, w->layer, &w->now);
    return r == 0 && b->is_last ? ledger_claim(w->s, b->session, w->now.commits)
                                : r;
}

static int
commit_check_order(struct store *s, struct session_row *f,
                   const struct store_batch *b)
{
    int64_t left = f->staging;

    if (!b->is_first && !left)
        return store_fail(s, -EINVAL, "a commit without its first part");
    if (!b->is_first || !left)
        return 0;
    f->staging = 0;
    return session_row_drop_staging(s, f->number, left);
}

/* The last part of a commit in several parts also makes the staging layer the
 * first layer. */
static int
commit(struct store *s, const struct store_batch *b)
{
    struct session_row f;
    struct commit_writer w = {.s = s};

    int r = session_row_find(s, b->session, &f);
    if (r == 0)
        r = commit_check_order(s, &f, b);
    if (r == 0)
        r = commit_open_layer(s, &f, b->is_last, &w.layer);
    if (r == 0)
        r = layer_get(s, w.layer, &w.now);
    if (r == 0)
        r = layer_chain_init_of(s, w.layer, w.now.parent, &w.chain);
    if (r != 0)
        return r;
    r = commit_write_batch(&w, &f, b);
    layer_chain_fini(&w.chain);
    return r == 0 && f.staging && b->is_last ? commit_close_staging(s, &f) : r;
}

int
store_commit(struct store *s, const struct store_batch *b)
{
    int r = store_op_begin(s);

    return r < 0 ? r : store_op_end(s, commit(s, b));
}

int
store_weigh(struct store *s, const struct store_batch *b,
            struct store_change *change)
{
    struct commit_writer w = {.s = s, .is_weighed = true};
    struct layer before = {0};
    struct session_row f;

    int r = session_row_find(s, b->session, &f);
    if (r == 0)
        r = layer_get(s, f.layer, &before);
    if (r == 0)
        r = layer_chain_init_of(s, f.layer, before.parent, &w.chain);
    if (r < 0)
        return r;
    w.now = before;
    r = commit_apply_all(&w, b->frames, b->len);
    layer_chain_fini(&w.chain);
    change->bytes += (int64_t)(w.now.used.bytes + w.now.used.other -
                               before.used.bytes - before.used.other);
    change->inodes += (int64_t)(w.now.used.inodes - before.used.inodes);
    return r;
}
