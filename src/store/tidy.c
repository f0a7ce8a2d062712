/* Upkeep in small steps, each a transaction.
 *
 * Problem: forks and staging create layers, and ended sessions leave layers and
 * chunks behind. Removing or merging a large layer at once would block commits.
 *
 * Idea: every step handles a bounded number of records, and leaves all sessions
 * with the records that they had. Emptying an unused layer changes nothing that
 * is visible. Merging moves records of an only child up into the layer, where
 * they replace those that they hid. A lookup through the child finds the same
 * record before and after. Copying a deep layer's visible records into it
 * changes no lookup. Upkeep can therefore stop after any step, also by a crash.
 */
#include "store/store_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_BYTES = 320,
    DEPTH_MAX = 16, /* of a chain, until it is copied into one layer */
    FORGET_EVERY_MS = 60000,
    SHRINK_PAGES = 1024, /* free ones that are kept */
    SWEEP_CHUNKS = 128,
    SWEEP_FULL_CHUNKS = 4, /* on a full disk */
};

struct key {
    uint8_t p[KEY_BYTES];
    size_t len;
};

/* Above all keys. */
static const struct key last_key = {{0xff}, 1};

static int
tidy_read_key(struct store *s, struct key *ret, sqlite3_stmt *started)
{
    SQL *st = started;
    int r = sql_step(s, st);
    size_t len = r > 0 ? (size_t)sqlite3_column_bytes(st, 0) : 0;

    if (r <= 0)
        return r;
    if (len > sizeof ret->p)
        return store_fail(s, -EBADMSG,
                          "the store is damaged: a key is too long");
    if (len)
        memcpy(ret->p, sqlite3_column_blob(st, 0), len);
    ret->len = len;
    return 1;
}

/* Finds the last key of the next 256 records of a layer after a key. Returns 0
 * if the layer has fewer left. */
static int
tidy_find_some(struct store *s, int64_t layer, const struct key *after,
               struct key *ret)
{
    return tidy_read_key(
        s, ret, sql_start(s, SQL_some_key, "ib", layer, after->p, after->len));
}

/* --- layers that nobody sees */

/* The parent has lost a child and may now be unused, or have a single child. */
static int
tidy_remove_layer(struct store *s, int64_t id, int64_t parent)
{
    int r = sql_run(s, SQL_layer_delete, "i", id);

    if (r == 0)
        r = sql_run(s, SQL_loose_layer_not, "i", id);
    return r < 0 ? r : layer_loosen(s, parent);
}

/* Removes some records of a layer that nobody sees. Their chunks become
 * candidates for the sweep, which checks whether another record still refers to
 * them. */
static int
tidy_drop_some(struct store *s, int64_t id, const struct layer *l)
{
    struct key none = {.len = 0}, last = last_key;

    int more = tidy_find_some(s, id, &none, &last);
    if (more < 0)
        return more;
    int r = sql_run(s, SQL_some_loose, "ib", id, last.p, last.len);
    if (r == 0)
        r = sql_run(s, SQL_some_delete, "ib", id, last.p, last.len);
    return r < 0 || more ? r : tidy_remove_layer(s, id, l->parent);
}

/* --- layers with one child: its records are moved up */

/* The child is empty. Its parent takes its place: its children, its owner and
 * its amounts. */
static int
tidy_replace_child(struct store *s, int64_t id, int64_t child)
{
    struct layer c;

    int r = layer_get(s, child, &c);
    if (r < 0)
        return r;
    r = sql_run(s, SQL_layer_adopt, "ii", child, id);
    if (r == 0 && c.session)
        r = sql_run(s, SQL_session_moved, "iii", c.session, child, id);
    if (r == 0)
        r = sql_run(s, SQL_layer_owner, "ii", id, c.session);
    if (r == 0)
        r = layer_put(s, id, &c);
    return r < 0 ? r : tidy_remove_layer(s, child, id);
}

/* Moves some records of the only child up into the layer.
 *
 * First, the chunks of records that will be replaced become candidates for the
 * sweep. Then the records are copied up. In a layer without a parent, records
 * that only say "not there" are removed. Finally the child's records are
 * deleted. All of it is one transaction. */
static int
tidy_merge_some(struct store *s, int64_t id, const struct layer *l,
                int64_t child)
{
    static const enum statement steps[] = {
        SQL_some_covered, SQL_some_move,
        SQL_some_gone, /* in a root, what is not there needs no record */
    };
    struct key none = {.len = 0}, last = last_key;

    int more = tidy_find_some(s, child, &none, &last);
    int r = more < 0 ? more : 0;
    for (int i = 0; i < (l->parent ? 2 : 3) && r == 0; i++)
        r = sql_run(s, steps[i], "ibi", child, last.p, last.len, id);
    if (r == 0)
        r = sql_run(s, SQL_some_delete, "ib", child, last.p, last.len);
    return r < 0 || more ? r : tidy_replace_child(s, id, child);
}

/* --- layers deep in a chain: they get a copy of all that they see */

static int
tidy_compare_keys(const struct key *a, const struct key *b)
{
    int r = memcmp(a->p, b->p, a->len < b->len ? a->len : b->len);

    return r ? r : (a->len > b->len) - (a->len < b->len);
}

/* Finds the end of the next range of keys to copy: the nearest end of 256
 * records among all parents, so that no parent contributes more. Returns 0 if
 * the range reaches the end of all parents. */
static int
tidy_find_range(struct store *s, const struct chain *c, const struct key *from,
                struct key *ret)
{
    int any = 0;

    for (size_t i = 1; i < c->n; i++) {
        struct key k = last_key;
        int r = tidy_find_some(s, c->ids[i], from, &k);
        if (r < 0)
            return r;
        if (tidy_compare_keys(&k, ret) < 0)
            *ret = k;
        any |= r;
    }
    return any;
}

/* Copies one range of the visible records into the layer. Parents are copied
 * from the nearest to the farthest, and keys that exist are kept (INSERT OR
 * IGNORE), so the nearest record wins as in a lookup. `filled` remembers the
 * position between steps. At the end, the layer needs no parent. */
static int
tidy_fill_some(struct store *s, int64_t id, const struct layer *l,
               const struct chain *c)
{
    struct key from = {.len = 0}, to = last_key;

    int r = tidy_read_key(s, &from, sql_start(s, SQL_layer_filled, "i", id));
    int more = r < 0 ? r : tidy_find_range(s, c, &from, &to);
    r = more < 0 ? more : 0;
    for (size_t i = 1; i < c->n && r == 0; i++)
        r = sql_run(s, SQL_some_copy, "ibbi", c->ids[i], from.p, from.len, to.p,
                    to.len, id);
    if (r == 0 && more)
        return sql_run(s, SQL_layer_fill, "ib", id, to.p, to.len);
    if (r == 0)
        r = sql_run(s, SQL_layer_to_root, "i", id);
    return r < 0 ? r : layer_loosen(s, l->parent);
}

static int
tidy_shorten(struct store *s, int64_t id, const struct layer *l)
{
    CLEANUP(layer_chain_fini) struct chain c = {0};

    int r = layer_chain_init(s, id, &c);
    if (r < 0)
        return r;
    return c.n > DEPTH_MAX ? tidy_fill_some(s, id, l, &c)
                           : sql_run(s, SQL_loose_layer_not, "i", id);
}

static int
tidy_count_children(struct store *s, int64_t id, int64_t *ret_first, int *ret)
{
    SQL *st = sql_start(s, SQL_layer_children, "i", id);
    int r;

    *ret = 0;
    while ((r = sql_step(s, st)) > 0)
        if (!(*ret)++)
            *ret_first = sqlite3_column_int64(st, 0);
    return r;
}

/* Chooses the step for a loose layer by its number of children. A layer with an
 * owner is in use. */
static int
tidy_layer(struct store *s, int64_t id)
{
    struct layer l;
    int64_t child = 0;
    int n;

    int r = layer_get(s, id, &l);
    if (r == 0)
        r = tidy_count_children(s, id, &child, &n);
    if (r != 0)
        return r;
    if (l.session)
        return sql_run(s, SQL_loose_layer_not, "i", id);
    if (!n)
        return tidy_drop_some(s, id, &l);
    return n == 1 ? tidy_merge_some(s, id, &l, child) : tidy_shorten(s, id, &l);
}

/* --- the kinds of steps: 1 if there was something to do */

static int
tidy_layers(struct store *s, int64_t now_ms)
{
    int64_t id;

    (void)now_ms;
    int r = sql_number(s, &id, SQL_loose_layer_get, "");
    if (r < 0 || !id)
        return r;
    r = tidy_layer(s, id);
    return r < 0 ? r : 1;
}

/* Deletes candidates that no record refers to. */
static int
tidy_chunks(struct store *s, int64_t now_ms)
{
    /* SQLite overwrites the pages that it frees, so removing chunks first needs
     * as much space again in the log. */
    int64_t n = s->is_reserve_used ? SWEEP_FULL_CHUNKS : SWEEP_CHUNKS;

    (void)now_ms;
    int r = sql_run(s, SQL_chunk_sweep, "i", n);
    if (r < 0 && r != -EBADMSG) /* a damaged one is left for fsck */
        return r;
    s->may_shrink |= sqlite3_changes(s->db) > 0;
    r = sql_run(s, SQL_loose_sweep, "i", n);
    return r < 0 ? r : sqlite3_changes(s->db) > 0;
}

/* Deletes old rows in small numbers. After a step that found none, the next
 * search waits a minute. */
static int
tidy_forget(struct store *s, int64_t now_ms)
{
    const struct store_options *o = &s->options;
    int64_t ended = o->keep_ended_ms ? now_ms - o->keep_ended_ms : INT64_MIN;
    int64_t old = o->keep_events_ms ? now_ms - o->keep_events_ms : INT64_MIN;
    int n = 0;

    if (now_ms < s->forget_at_ms)
        return 0;
    int r = sql_run(s, SQL_session_forget, "i", ended);
    n += sqlite3_changes(s->db);
    if (r == 0)
        r = sql_run(s, SQL_event_forget, "ii", old, (int64_t)o->events_max);
    n += sqlite3_changes(s->db);
    if (r == 0 && !n)
        s->forget_at_ms = now_ms + FORGET_EVERY_MS;
    return r < 0 ? r : n > 0;
}

/* Returns free pages at the end of the file to the disk, once they are a
 * quarter of it. On a full disk, any free page is returned. */
static int
tidy_shrink(struct store *s, int64_t now_ms)
{
    int64_t n_free = 0, n_all = 0;

    (void)now_ms;
    if (!s->may_shrink)
        return 0;
    int r = sql_number(s, &n_free, SQL_pages_free, "");
    if (r == 0)
        r = sql_number(s, &n_all, SQL_pages_all, "");
    if (r < 0)
        return r;
    s->may_shrink = (n_free > SHRINK_PAGES && n_free > n_all / 4) ||
                    (n_free && s->is_reserve_used);
    if (!s->may_shrink)
        return 0;
    SQL *st = sql_start(s, SQL_shrink, "");
    while ((r = sql_step(s, st)) > 0)
        ;
    return r < 0 ? r : 1;
}

static int
tidy_step(struct store *s, int64_t now_ms)
{
    static int (*const kinds[])(struct store * s, int64_t now_ms) = {
        tidy_chunks, tidy_layers, tidy_forget, tidy_shrink};
    int r = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && r == 0; i++)
        r = kinds[i](s, now_ms);
    return r;
}

int
store_tidy(struct store *s, int64_t now_ms)
{
    if (!s->may_tidy && !s->may_shrink && now_ms < s->forget_at_ms)
        return 0;
    int r = store_begin(s, false);
    if (r < 0)
        return r;
    int did = tidy_step(s, now_ms);
    if (did <= 0) {
        store_undo(s);
        s->may_tidy = did < 0;
        return did;
    }
    r = store_end(s);
    return r < 0 ? r : did;
}
