/* Checks every record of a session: its form, its bytes, its consistency with
 * other records, and the amounts.
 *
 * Repairs are collected as a list of frames and committed like those of a
 * worker. The code that writes records is thus the same, quotas and digests
 * stay right, and an interrupted repair leaves nothing behind. */
#include "store/check_impl.h"

#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void
check_report(struct check *c, const char *session, const char *path,
             const char *what, bool is_repaired)
{
    struct store_finding f = {session, path, what, is_repaired};

    c->n_found++;
    c->fn(c->arg, &f);
}

uint64_t
check_id_of(const struct record_key *k)
{
    return (uint64_t)k->mount << 48 | k->inode;
}

/* --- inodes */

int
check_inodes_add(struct inodes *l, uint64_t id, const struct record_inode *r)
{
    if (!VEC_ROOM(l->p, l->n))
        return -ENOMEM;
    l->p[l->n++] = (struct check_inode){.id = id, .r = *r};
    return 0;
}

static int
check_compare_inodes(const void *a, const void *b)
{
    const struct check_inode *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct check_inode *
check_find_inode(const struct session_check *t, uint64_t id)
{
    struct check_inode key = {.id = id};

    return t->inodes.n ? bsearch(&key, t->inodes.p, t->inodes.n, sizeof key,
                                 check_compare_inodes)
                       : NULL;
}

const struct record_inode *
check_inode_of(const struct session_check *t, uint64_t id)
{
    const struct check_inode *i = check_find_inode(t, id);

    return i ? &i->r : NULL;
}

/* --- the check */

static unsigned
check_known(const struct checked *l, int64_t chunk)
{
    size_t i = (size_t)chunk;

    return l && i < l->n ? l->bits[i / 4] >> (i % 4 * 2) & 3u : CHUNK_UNKNOWN;
}

static void
check_remember(struct checked *l, int64_t chunk, unsigned what)
{
    size_t i = (size_t)chunk;

    if (l && i < l->n)
        l->bits[i / 4] |= (uint8_t)(what << (i % 4 * 2));
}

/* Returns 0 if the bytes of the chunk are there and form a record. The memory
 * of verified chunks covers the bytes only: the form depends on the key, which
 * differs between records that share a chunk. */
static int
check_chunk(struct session_check *t, const struct record_walk *w)
{
    struct checked *l = t->c->checked;
    SQL *st = NULL;
    const void *p;
    size_t len;

    if (check_known(l, w->chunk) == CHUNK_WHOLE)
        return 0;
    if (check_known(l, w->chunk) == CHUNK_DAMAGED)
        return -EBADMSG;
    int r = chunk_get(t->c->s, w->chunk, &st, &p, &len);
    if (r == 0 && len != w->len)
        r = -EBADMSG;
    if (r == 0 || r == -EBADMSG)
        check_remember(l, w->chunk, r ? CHUNK_DAMAGED : CHUNK_WHOLE);
    if (r == 0 && record_check(w->key, w->key_len, p, len))
        return -EBADMSG;
    return r;
}

static int
check_value(struct session_check *t, const struct record_walk *w)
{
    if (w->is_damaged)
        return -EBADMSG;
    if (w->chunk)
        return check_chunk(t, w);
    return record_check(w->key, w->key_len, w->value ? w->value : "", w->len)
               ? -EBADMSG
               : 0;
}

/* Returns whether the record belongs to an inode that can have it: only
 * directories have names, only files and links have blocks. An inode without a
 * record is the image's, and cannot be judged here. */
static bool
check_is_placed(const struct session_check *t, const struct record_key *k)
{
    const struct record_inode *i = check_inode_of(t, check_id_of(k));
    uint32_t kind = i ? i->mode & S_IFMT : 0;

    if (!i)
        return true;
    if (k->type == RECORD_NAME)
        return kind == S_IFDIR;
    return k->type != RECORD_BLOCK || kind == S_IFREG || kind == S_IFLNK;
}

/* Marks the inode that a name refers to. Inodes that stay unmarked have lost
 * their names. */
static void
check_note_named(struct session_check *t, const struct record_key *k,
                 const struct record_walk *w)
{
    struct record_name n;
    struct check_inode *i = NULL;

    if (!record_name_get(w->value, w->len, &n))
        i = check_find_inode(t, (uint64_t)k->mount << 48 | n.inode);
    if (i)
        i->is_named = true;
}

/* The record is counted in `seen` even if it is damaged, as in the layer's
 * digest. Damage to a value therefore does not look like a missing record. */
static int
check_record(struct session_check *t, const struct record_walk *w)
{
    struct record_inode i;
    struct record_key k;

    if (record_key_get(w->key, w->key_len, &k))
        return check_lose_formless(t, w);
    layer_charge(&t->seen, w->key, w->key_len, w->len, w->sum, true);
    int r = check_value(t, w);
    if (r == -EBADMSG)
        return check_damaged(t, w, &k);
    if (r < 0)
        return r;
    if (!check_is_placed(t, &k))
        return check_lose_record(t, w, "",
                                 "a record does not fit to its inode");
    t->has_places |= k.type == RECORD_PLACE;
    if (k.type == RECORD_NAME)
        check_note_named(t, &k, w);
    if (k.type != RECORD_INODE || record_inode_get(w->value, w->len, &i))
        return 0;
    return check_inodes_add(&t->inodes, check_id_of(&k), &i);
}

static int
check_records(struct session_check *t)
{
    CLEANUP(walk_fini) struct record_walk w = {0};

    int r = walk_init(&w, t->c->s, &t->chain, NULL, 0);
    if (r < 0)
        return r;
    while ((r = walk_next(&w)) > 0) {
        r = check_record(t, &w);
        if (r < 0)
            return r;
    }
    return r;
}

/* Gives an inode without a name the name /lost.INODE in the root. Its position
 * in the order of names comes after all that a sandbox assigns, which start at
 * 1. */
static int
check_name_inode(struct session_check *t, uint32_t mount, uint64_t inode)
{
    const struct record_name n = {inode, RECORD_INODE_MAX / 2 + inode};
    uint8_t key[RECORD_KEY_MAX], value[RECORD_FIXED_MAX];
    char path[40];

    if (n.seq >= RECORD_INODE_MAX)
        return 0;
    (void)snprintf(path, sizeof path, "/lost.%llu", (unsigned long long)inode);
    struct record_key k = {.type = RECORD_NAME,
                           .mount = mount,
                           .inode = ROOT_INODE,
                           .name = path + 1,
                           .name_len = strlen(path + 1)};
    size_t len = record_key_put(&k, key);
    check_add_frame(t, RECORD_PUT, key, len, value, record_name_put(&n, value));
    check_report(t->c, t->id, path, "its name was lost", t->c->repair);
    return 0;
}

/* Finds inodes that no name refers to. Inodes of the image need no record of a
 * name, because they have the name that the image gives them; the records of
 * places identify them. A session without places may have been written by an
 * earlier program, and is left alone. */
static int
check_names(struct session_check *t)
{
    int r = 0;

    for (size_t n = 0; t->has_places && n < t->inodes.n && r >= 0; n++) {
        const struct check_inode *i = &t->inodes.p[n];
        uint32_t mount = (uint32_t)(i->id >> 48);
        uint64_t inode = i->id & (RECORD_INODE_MAX - 1), dir = inode;
        if (i->is_named || inode == ROOT_INODE)
            continue;
        r = walk_place(t->c->s, &t->chain, mount, &dir, NULL, 0);
        if (r == 0)
            r = check_name_inode(t, mount, inode);
    }
    return r < 0 ? r : 0;
}

/* Compares amounts and digest of the records that were read, before any repair,
 * with those of the layer.
 *
 * If only the amounts differ, the sums are wrong and are replaced. If the
 * digests differ although no record was found damaged, records are missing. The
 * rest may then come from two commits, for example after a page of the database
 * was replaced by an older one. A session is not given such a mixture, unless
 * somebody asks for it. */
static int
check_amounts(struct session_check *t)
{
    struct layer l;

    int r = layer_get(t->c->s, t->found.layer, &l);
    if (r < 0)
        return r;
    bool is_same = l.digest == t->seen.digest;
    if (is_same && !memcmp(&l.used, &t->seen.used, sizeof l.used))
        return 0;
    bool is_explained = !is_same && t->c->n_found > t->n_before;
    bool may_repair =
        t->c->repair && (is_same || is_explained || t->c->accepts);
    if (!is_explained)
        check_report(t->c, t->id, "",
                     is_same ? "its amounts are wrong"
                             : "records are missing, or from another commit",
                     may_repair);
    l.used = t->seen.used;
    l.digest = t->seen.digest;
    return may_repair ? layer_put(t->c->s, t->found.layer, &l) : 0;
}

static int
check_repair(struct session_check *t)
{
    struct store_batch b = {.session = t->id,
                            .frames = t->frames.p,
                            .len = t->frames.len,
                            .is_first = true,
                            .is_last = true};

    if (t->frames.error)
        return store_fail(t->c->s, -ENOMEM, "no memory");
    return t->c->repair && b.len ? store_commit(t->c->s, &b) : 0;
}

/* An unfinished commit would be lost by a repair, so the caller must drop it
 * before. */
static int
check_all(struct session_check *t)
{
    int r = session_row_find(t->c->s, t->id, &t->found);

    if (r == 0 && t->found.staging && t->c->repair)
        r = store_fail(t->c->s, -EBUSY, "session %s has an unfinished commit",
                       t->id);
    if (r == 0)
        r = layer_chain_init(t->c->s, t->found.layer, &t->chain);
    if (r == 0)
        r = check_records(t);
    if (r == 0)
        r = check_names(t);
    if (r == 0)
        r = check_amounts(t);
    return r < 0 ? r : check_repair(t);
}

int
check_session(struct check *c, const char *id)
{
    struct session_check t = {.c = c, .id = id, .n_before = c->n_found};

    int r = store_op_begin(c->s);
    if (r < 0)
        return r;
    buf_init(&t.frames, SIZE_MAX / 4);
    r = store_op_end(c->s, check_all(&t));
    buf_fini(&t.frames);
    layer_chain_fini(&t.chain);
    free(t.inodes.p);
    return r;
}

int
store_repair(struct store *s, const char *session, bool repair_it,
             store_finding_fn *fn, void *arg)
{
    struct check c = {.s = s, .repair = repair_it, .fn = fn, .arg = arg};
    int r = check_session(&c, session);

    return r < 0 ? r : c.n_found;
}
