/* Checks every record of a session: its form, its bytes, its consistency with
 * other records, and the amounts. Repairs become a list of frames, which are
 * committed like those of a worker. */
#include "store/check.h"

#include "base/buf.h"
#include "base/vec.h"
#include "store/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Inodes that have a record, in the order of their keys. */
struct inodes {
    struct inode {
        uint64_t id; /* with its mount, as in keys */
        struct record_inode r;
        bool is_named;
    } * p;
    size_t n;
};

struct session_check {
    struct check *c;
    const char *id;
    struct row found;
    struct chain chain;
    struct inodes inodes;
    struct buf frames; /* the repair */
    struct layer seen; /* amounts and digest of what was read */
    int n_before;      /* findings of others */
    uint64_t emptied;  /* the last inode whose contents were removed */
    bool is_shell_damaged;
    bool has_places; /* so inodes without one are not the image's */
};

void
check_report(struct check *c, const char *session, const char *path,
             const char *what, bool is_repaired)
{
    struct store_finding f = {session, path, what, is_repaired};

    c->n_found++;
    c->fn(c->arg, &f);
}

static uint64_t
check_id_of(const struct record_key *k)
{
    return (uint64_t)k->mount << 48 | k->inode;
}

/* --- inodes */

static int
inodes_add(struct inodes *l, uint64_t id, const struct record_inode *r)
{
    if (!VEC_ROOM(l->p, l->n))
        return -ENOMEM;
    l->p[l->n++] = (struct inode){.id = id, .r = *r};
    return 0;
}

static int
check_compare_inodes(const void *a, const void *b)
{
    const struct inode *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct inode *
check_find_inode(const struct session_check *t, uint64_t id)
{
    struct inode key = {.id = id};

    return t->inodes.n ? bsearch(&key, t->inodes.p, t->inodes.n, sizeof key,
                                 check_compare_inodes)
                       : NULL;
}

/* NULL: it has no record, but the image may have it. */
static const struct record_inode *
check_inode_of(const struct session_check *t, uint64_t id)
{
    const struct inode *i = check_find_inode(t, id);

    return i ? &i->r : NULL;
}

/* --- repairs */

static void
check_add_frame(struct session_check *t, enum record_op op, const void *key,
                size_t key_len, const void *value, size_t len)
{
    struct record_head h = {op, (uint16_t)key_len, (uint32_t)len};
    uint8_t head[RECORD_HEAD_BYTES];

    record_head_put(&h, head);
    buf_add(&t->frames, head, sizeof head);
    buf_add(&t->frames, key, key_len);
    buf_add(&t->frames, value, len);
}

/* Removes all records whose keys begin so. */
static int
check_remove_all(struct session_check *t, const uint8_t *start, size_t len)
{
    CLEANUP(walk_fini) struct walk w = {0};

    int r = walk_init(&w, t->c->s, &t->chain, start, len);
    if (r < 0)
        return r;
    while ((r = walk_next(&w)) > 0 && w.key_len > len &&
           !memcmp(w.key, start, len))
        check_add_frame(t, RECORD_DELETE, w.key, w.key_len, NULL, 0);
    return r < 0 ? r : 0;
}

/* A file without contents; a directory stays one; a file of the image that has
 * no record gets back those that it has there. */
static int
check_empty_inode(struct session_check *t, const struct record_key *block)
{
    struct record_key k = {
        .type = RECORD_INODE, .mount = block->mount, .inode = block->inode};
    const struct record_inode *was = check_inode_of(t, check_id_of(block));
    uint8_t key[RECORD_KEY_MAX], value[RECORD_FIXED_MAX];
    size_t len = record_key_put(&k, key);

    if (was) {
        struct record_inode i = *was;
        if (!S_ISDIR(i.mode))
            i.mode = S_IFREG | (i.mode & 07777);
        i.size = 0;
        check_add_frame(t, RECORD_PUT, key, len, value,
                        record_inode_put(&i, value));
    }
    *key = RECORD_BLOCK;
    return check_remove_all(t, key, len);
}

/* Without its memory, what else is known of the shell is of no use. */
static int
check_renew_shell(struct session_check *t)
{
    static const uint8_t page = RECORD_PAGE, file = RECORD_FILE;
    uint8_t key[RECORD_KEY_MAX];

    for (enum record_fact f = 0; f < FACT_COUNT; f++) {
        const struct record_key k = record_fact_key(f);
        if (record_is_shells(f))
            check_add_frame(t, RECORD_DELETE, key, record_key_put(&k, key),
                            NULL, 0);
    }
    int r = check_remove_all(t, &page, 1);
    return r < 0 ? r : check_remove_all(t, &file, 1);
}

/* --- what is damaged */

static int
check_lose_file(struct session_check *t, const struct record_key *k,
                const char *what)
{
    char path[1024];

    if (t->emptied == check_id_of(k))
        return 0;
    t->emptied = check_id_of(k);
    int r =
        walk_path(t->c->s, &t->chain, k->mount, k->inode, path, sizeof path);
    if (r == 0)
        r = check_empty_inode(t, k);
    check_report(t->c, t->id, path, what, t->c->repair);
    return r;
}

static int
check_lose_shell(struct session_check *t)
{
    if (t->is_shell_damaged)
        return 0;
    t->is_shell_damaged = true;
    check_report(t->c, t->id, "", "the shell's memory is damaged",
                 t->c->repair);
    return check_renew_shell(t);
}

static int
check_lose_record(struct session_check *t, const struct walk *w,
                  const char *path, const char *what)
{
    check_report(t->c, t->id, path, what, t->c->repair);
    check_add_frame(t, RECORD_DELETE, w->key, w->key_len, NULL, 0);
    return 0;
}

/* 1: there is a name in it. */
static int
check_has_names(struct session_check *t, const struct record_key *k)
{
    CLEANUP(walk_fini) struct walk w = {0};
    struct record_key name = {
        .type = RECORD_NAME, .mount = k->mount, .inode = k->inode, .name = ""};
    uint8_t key[RECORD_KEY_MAX];
    size_t len = record_key_put(&name, key);

    int r = walk_init(&w, t->c->s, &t->chain, key, len);
    if (r == 0)
        r = walk_next(&w);
    return r > 0 ? w.key_len > len && !memcmp(w.key, key, len) : r;
}

/* Returns the inode to its state in the image, except the names in it. */
static int
check_lose_image_inode(struct session_check *t, const struct walk *w,
                       const struct record_key *k, const char *path)
{
    t->emptied = check_id_of(k);
    (void)check_lose_record(t, w, path, "its inode is damaged");
    return check_empty_inode(t, k);
}

/* One that is not the image's becomes a directory, if something is in it, or an
 * empty file. */
static int
check_lose_inode(struct session_check *t, const struct walk *w,
                 const struct record_key *k)
{
    struct record_inode lost = {.mode = S_IFREG | 0644};
    uint64_t inode = k->inode;
    char path[1024];

    int r =
        walk_path(t->c->s, &t->chain, k->mount, k->inode, path, sizeof path);
    if (r == 0)
        r = walk_place(t->c->s, &t->chain, k->mount, &inode, NULL, 0);
    if (r < 0)
        return r;
    if (r > 0 || *path != '/')
        return check_lose_image_inode(t, w, k, path);
    r = check_has_names(t, k);
    if (r > 0)
        lost.mode = S_IFDIR | 0777;
    if (r >= 0)
        r = inodes_add(&t->inodes, check_id_of(k), &lost);
    return r < 0 ? r : check_lose_file(t, k, "its inode is damaged");
}

static int
check_lose_place(struct session_check *t, const struct walk *w,
                 const struct record_key *k)
{
    (void)k;
    check_report(t->c, t->id, "", "a place in the image is damaged",
                 t->c->repair);
    check_add_frame(t, RECORD_PUT, w->key, w->key_len, "", 0);
    return 0;
}

static int
check_lose_name(struct session_check *t, const struct walk *w,
                const struct record_key *k)
{
    char path[1024], dir[700];

    int r = walk_path(t->c->s, &t->chain, k->mount, k->inode, dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/%.*s", dir, (int)k->name_len,
                   k->name);
    return r < 0 ? r : check_lose_record(t, w, path, "the name is damaged");
}

/* Commands have no gaps between them. */
static int
check_lose_command(struct session_check *t, const struct walk *w,
                   const struct record_key *k)
{
    (void)k;
    check_report(t->c, t->id, "", "a command of the history is damaged",
                 t->c->repair);
    check_add_frame(t, RECORD_PUT, w->key, w->key_len, "", 0);
    return 0;
}

static int
check_lose_fact(struct session_check *t, const struct walk *w,
                const struct record_key *k)
{
    enum record_fact f = record_fact_of(k);

    if (f == FACT_script)
        return check_lose_record(t, w, "", "the shell's script is damaged");
    if (f != FACT_image && f != FACT_version)
        return check_lose_shell(t);
    check_report(t->c, t->id, "", "its image or format is not known", false);
    return 0;
}

static int
check_lose_open_file(struct session_check *t, const struct walk *w,
                     const struct record_key *k)
{
    (void)k;
    return check_lose_record(t, w, "", "an open file of the shell is damaged");
}

static int
check_lose_page(struct session_check *t, const struct walk *w,
                const struct record_key *k)
{
    (void)w;
    (void)k;
    return check_lose_shell(t);
}

static int
check_lose_attrs(struct session_check *t, const struct walk *w,
                 const struct record_key *k)
{
    char path[1024];

    int r =
        walk_path(t->c->s, &t->chain, k->mount, k->inode, path, sizeof path);
    return r < 0 ? r
                 : check_lose_record(t, w, path, "its attributes are damaged");
}

static int
check_lose_block(struct session_check *t, const struct walk *w,
                 const struct record_key *k)
{
    (void)w;
    return check_lose_file(t, k, "its contents are damaged");
}

/* The actions for records whose bytes are not as they were written. */
static int (*const lose[])(struct session_check *t, const struct walk *w,
                           const struct record_key *k) = {
    [RECORD_FACT] = check_lose_fact,       [RECORD_FILE] = check_lose_open_file,
    [RECORD_COMMAND] = check_lose_command, [RECORD_INODE] = check_lose_inode,
    [RECORD_NAME] = check_lose_name,       [RECORD_PAGE] = check_lose_page,
    [RECORD_ATTRS] = check_lose_attrs,     [RECORD_PLACE] = check_lose_place,
    [RECORD_BLOCK] = check_lose_block,
};

/* Not even a commit could remove it. It is wrong for whoever sees it. */
static int
check_lose_formless(struct session_check *t, const struct walk *w)
{
    int r = 0;

    check_report(t->c, t->id, "", "a record is malformed", t->c->repair);
    for (size_t i = 0; t->c->repair && i < t->chain.n && r == 0; i++)
        r = sql_run(t->c->s, SQL_record_delete, "ib", t->chain.ids[i], w->key,
                    w->key_len);
    return r;
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

/* 0: its bytes are there, and make a record that is well-formed. */
static int
check_chunk(struct session_check *t, const struct walk *w)
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
check_value(struct session_check *t, const struct walk *w)
{
    if (w->is_damaged)
        return -EBADMSG;
    if (w->chunk)
        return check_chunk(t, w);
    return record_check(w->key, w->key_len, w->value ? w->value : "", w->len)
               ? -EBADMSG
               : 0;
}

/* Does it belong to an inode that can have it? */
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

static void
check_note_named(struct session_check *t, const struct record_key *k,
                 const struct walk *w)
{
    struct record_name n;
    struct inode *i = NULL;

    if (!record_name_get(w->value, w->len, &n))
        i = check_find_inode(t, (uint64_t)k->mount << 48 | n.inode);
    if (i)
        i->is_named = true;
}

static int
check_record(struct session_check *t, const struct walk *w)
{
    struct record_inode i;
    struct record_key k;

    if (record_key_get(w->key, w->key_len, &k))
        return check_lose_formless(t, w);
    layer_charge(&t->seen, w->key, w->key_len, w->len, w->sum, true);
    int r = check_value(t, w);
    if (r == -EBADMSG)
        return lose[k.type](t, w, &k);
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
    return inodes_add(&t->inodes, check_id_of(&k), &i);
}

static int
check_records(struct session_check *t)
{
    CLEANUP(walk_fini) struct walk w = {0};

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

/* Gives an inode without a name one in the root. */
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

/* Inodes of the image may have the names that they have there. */
static int
check_names(struct session_check *t)
{
    int r = 0;

    for (size_t n = 0; t->has_places && n < t->inodes.n && r >= 0; n++) {
        const struct inode *i = &t->inodes.p[n];
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

/* Amounts and digest of what was read, before any repair. Records that are
 * missing without another finding mean that the rest may be of two commits: a
 * session is not given that, unless somebody asks for it. */
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

static int
check_all(struct session_check *t)
{
    int r = row_find(t->c->s, t->id, &t->found);

    if (r == 0 && t->found.staging && t->c->repair)
        r = store_fail(t->c->s, -EBUSY, "session %s has an unfinished commit",
                       t->id);
    if (r == 0)
        r = chain_init(t->c->s, t->found.layer, &t->chain);
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

    int r = op_begin(c->s);
    if (r < 0)
        return r;
    buf_init(&t.frames, SIZE_MAX / 4);
    r = op_end(c->s, check_all(&t));
    buf_fini(&t.frames);
    chain_fini(&t.chain);
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
