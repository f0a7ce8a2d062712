/* One cursor for each layer (a k-way merge): the smallest key of all is next,
 * and the first layer that has it decides. */
#include "store/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cursor over one layer. Its key belongs to the statement, and is valid until
 * the statement moves on. */
struct walk_layer {
    sqlite3_stmt *st;
    const uint8_t *key; /* NULL: no more */
    size_t key_len;
    bool is_used; /* was given, or is hidden by one that was */
};

static int
walk_compare(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    size_t n = a_len < b_len ? a_len : b_len;
    int r = n ? memcmp(a, b, n) : 0;

    return r ? r : (a_len > b_len) - (a_len < b_len);
}

static int
walk_advance(struct store *s, struct walk_layer *l)
{
    int r = sql_step(s, l->st);

    if (r < 0)
        return r;
    l->key = r ? sqlite3_column_blob(l->st, 0) : NULL;
    l->key_len = r ? (size_t)sqlite3_column_bytes(l->st, 0) : 0;
    l->is_used = false;
    return 0;
}

static int
walk_open_layer(struct record_walk *w, int64_t layer, const void *after,
                size_t after_len)
{
    static const char text[] = "SELECT key, len, value, chunk, sum FROM record "
                               "WHERE layer=?1 AND key>?2 ORDER BY key";
    struct walk_layer *l = &w->layers[w->n];

    if (sqlite3_prepare_v2(w->s->db, text, -1, &l->st, NULL))
        return sql_fail(w->s);
    w->n++;
    if (sqlite3_bind_int64(l->st, 1, layer) ||
        sqlite3_bind_blob64(l->st, 2, after_len ? after : "", after_len,
                            SQLITE_TRANSIENT))
        return sql_fail(w->s);
    return walk_advance(w->s, l);
}

int
walk_init(struct record_walk *w, struct store *s, const struct chain *c,
          const void *after, size_t after_len)
{
    int r = 0;

    *w = (struct record_walk){.s = s};
    w->layers = calloc(c->n, sizeof *w->layers);
    if (!w->layers)
        return store_fail(s, -ENOMEM, "no memory");
    for (size_t i = 0; i < c->n && r == 0; i++)
        r = walk_open_layer(w, c->ids[i], after, after_len);
    if (r < 0)
        walk_fini(w);
    return r;
}

void
walk_fini(struct record_walk *w)
{
    for (size_t i = 0; i < w->n; i++)
        sqlite3_finalize(w->layers[i].st);
    free(w->layers);
    *w = (struct record_walk){0};
}

/* Returns the first layer with the smallest key, or NULL at the end. Among
 * equal keys, the layer nearest to the session wins, because a later one must
 * be smaller to replace it. */
static struct walk_layer *
walk_least(struct record_walk *w)
{
    struct walk_layer *min = NULL;

    for (size_t i = 0; i < w->n; i++) {
        struct walk_layer *l = &w->layers[i];
        if (l->key && (!min || walk_compare(l->key, l->key_len, min->key,
                                            min->key_len) < 0))
            min = l;
    }
    return min;
}

static int
walk_skip_used(struct record_walk *w)
{
    int r = 0;

    for (size_t i = 0; i < w->n && r == 0; i++)
        if (w->layers[i].is_used)
            r = walk_advance(w->s, &w->layers[i]);
    return r;
}

/* Makes the record of a cursor the current one. Layers behind it with the same
 * key are hidden by it, and move on with it. */
static void
walk_use(struct record_walk *w, struct walk_layer *of)
{
    for (struct walk_layer *l = of; l < w->layers + w->n; l++)
        l->is_used =
            l->key && !walk_compare(l->key, l->key_len, of->key, of->key_len);
    w->key = of->key;
    w->key_len = of->key_len;
    w->chunk = sqlite3_column_int64(of->st, 3);
    w->value = sqlite3_column_blob(of->st, 2);
    w->len = w->chunk ? (uint64_t)sqlite3_column_int64(of->st, 1)
                      : (uint64_t)sqlite3_column_bytes(of->st, 2);
    w->sum = sqlite3_column_int64(of->st, 4);
    w->is_damaged =
        w->len != (uint64_t)sqlite3_column_int64(of->st, 1) ||
        !store_record_sum_is(
            store_record_sum(w->key, w->key_len, w->value, w->len, w->chunk),
            w->sum);
}

/* A record without a length says that the key is absent, whatever the parents
 * have. Such records are skipped. */
int
walk_next(struct record_walk *w)
{
    w->key = NULL; /* the old key belonged to the statement */
    for (;;) {
        int r = walk_skip_used(w);
        if (r < 0)
            return r;
        struct walk_layer *l = walk_least(w);
        if (!l)
            return 0;
        walk_use(w, l);
        if (sqlite3_column_type(l->st, 1) != SQLITE_NULL)
            return 1;
    }
}

/* --- paths */

static void
walk_put_before(char *path, size_t size, const char *name, size_t name_len)
{
    char rest[1024];

    (void)snprintf(rest, sizeof rest, "%s", path);
    (void)snprintf(path, size, "/%.*s%s", (int)name_len, name, rest);
}

/* Finds a name of the inode: returns 1 with its directory in *inode, and
 * prepends the name to `path`. This reads all names of the session, which is
 * acceptable for error messages. */
static int
walk_find_name(struct store *s, const struct chain *c, uint32_t mount,
               uint64_t *inode, char *path, size_t size)
{
    CLEANUP(walk_fini) struct record_walk w;
    struct record_key k;
    struct record_name n;

    int r = walk_init(&w, s, c, "n", 1);
    if (r < 0)
        return r;
    while ((r = walk_next(&w)) > 0 && *w.key == RECORD_NAME) {
        if (record_key_get(w.key, w.key_len, &k) || k.mount != mount ||
            record_name_get(w.value, w.len, &n) || n.inode != *inode)
            continue;
        walk_put_before(path, size, k.name, k.name_len);
        *inode = k.inode;
        return 1;
    }
    return r < 0 ? r : 0;
}

/* The walk begins after the key of the inode before this one. The first record
 * is therefore the wanted one, or there is none. */
int
walk_place(struct store *s, const struct chain *c, uint32_t mount,
           uint64_t *inode, char *path, size_t size)
{
    CLEANUP(walk_fini) struct record_walk w;
    struct record_key k = {
        .type = RECORD_PLACE, .mount = mount, .inode = *inode - 1};
    struct record_place place;
    uint8_t key[RECORD_KEY_MAX];

    int r = walk_init(&w, s, c, key, record_key_put(&k, key));
    if (r == 0)
        r = walk_next(&w);
    if (r <= 0)
        return r;
    if (record_key_get(w.key, w.key_len, &k) || k.type != RECORD_PLACE ||
        k.mount != mount || k.inode != *inode)
        return 0;
    if (w.is_damaged || record_place_get(w.value, w.len, &place) || !place.dir)
        return 2;
    if (path)
        walk_put_before(path, size, place.name, place.name_len);
    *inode = place.dir;
    return 1;
}

/* Climbs from the inode to the root, by records of names and then by places in
 * the image. The depth is limited because damaged records may form a ring. */
int
walk_path(struct store *s, const struct chain *c, uint32_t mount,
          uint64_t inode, char *ret, size_t size)
{
    enum { DEPTH_MAX = 64 };
    char rest[1024];
    int r = 1;

    *ret = 0;
    for (int i = 0; i < DEPTH_MAX && inode != ROOT_INODE && r == 1; i++) {
        r = walk_find_name(s, c, mount, &inode, ret, size);
        if (r == 0)
            r = walk_place(s, c, mount, &inode, ret, size);
    }
    if (r < 0 || inode == ROOT_INODE)
        return r < 0 ? r : 0;
    (void)snprintf(rest, sizeof rest, "%s", ret);
    (void)snprintf(ret, size, "inode %llu%s", (unsigned long long)inode, rest);
    return 0;
}

int
walk_blame(struct store *s, const struct chain *c, const char *session,
           const void *key, size_t key_len)
{
    char path[1024] = "its shell";
    struct record_key k;

    if (!record_key_get(key, key_len, &k) && k.type == RECORD_BLOCK)
        (void)walk_path(s, c, k.mount, k.inode, path, sizeof path);
    return store_fail(s, -EBADMSG,
                      "session %s: %s is damaged; see session fsck", session,
                      path);
}
