/* Trees as records: a map is kept up to date with what changes, and a tree that
 * is made from it is the same. */
#include "../unit/test.h"
#include "random_tree.h"
#include "record_map.h"
#include "tree/tree_records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct quota plenty = {UINT64_C(1) << 40, 1 << 20};
static const struct attr dir_attr = {.mode = S_IFDIR | 0755, .uid = 7};
static const struct attr file_attr = {.mode = S_IFREG | 0640, .gid = 8};

/* How many records this has sent. */
static size_t
map_update(struct map *m, const struct tree *base, const struct tree *last,
           const struct tree *now)
{
    static const enum record_type types[] = {RECORD_INODE, RECORD_NAME,
                                             RECORD_ATTRS, RECORD_BLOCK};
    const struct record_sink to = {map_put, m};

    m->n_sent = 0;
    for (int i = 0; i < 4; i++)
        CHECK_EQ(tree_records(base, last, now, types[i], 5, &to), 0);
    return m->n_sent;
}

/* 0: and the tree in *ret. */
static int
map_load(const struct map *m, const struct tree *base, const struct quota *max,
         struct tree *ret)
{
    struct tree_draft d;
    struct record_key k;

    int r = tree_draft_init(&d, base, max);
    for (size_t i = 0; r == 0 && i < m->n; i++) {
        const struct pair *p = &m->v[i];
        r = record_check(p->key, p->key_len, p->value, p->len);
        if (r == 0)
            r = record_key_get(p->key, p->key_len, &k);
        if (r == 0)
            r = tree_draft_put(&d, &k, p->value, p->len);
    }
    if (r == 0)
        r = tree_draft_end(&d);
    if (r == 0)
        *ret = d.tree;
    else
        tree_draft_fini(&d);
    return r;
}

/* --- sameness */

static void
check_same_names(const struct inode *a, const struct inode *b)
{
    const struct dir_entry *e, *f;

    CHECK_EQ(a->dir.n, b->dir.n);
    for (uint64_t s = 0, t = 0; (e = dir_next(&a->dir, &s)); s++, t++) {
        f = dir_next(&b->dir, &t);
        CHECK(f && e->seq == f->seq && e->ino == f->ino && e->type == f->type &&
              e->len == f->len && !memcmp(e->name, f->name, e->len));
        if (!f)
            return;
        CHECK(dir_find(&b->dir, (struct name){f->name, f->len}) == f);
    }
}

static void
check_same_blocks(const struct inode *a, const struct inode *b)
{
    static uint8_t x[CHUNK_BYTES], y[CHUNK_BYTES];
    const struct chunk *c, *d;

    CHECK_EQ(a->size, b->size);
    CHECK_EQ(a->chunks.sum.leaves, b->chunks.sum.leaves);
    for (uint64_t k = 0; (c = (struct chunk *)radix_next(&a->chunks, &k));
         k++) {
        d = (struct chunk *)radix_find(&b->chunks, k);
        CHECK(d);
        if (!d)
            return;
        chunk_read(c, 0, x, sizeof x);
        chunk_read(d, 0, y, sizeof y);
        CHECK(!memcmp(x, y, sizeof x));
    }
}

static void
check_same_xattrs(const struct xattrs *a, const struct xattrs *b)
{
    CHECK_EQ(!a, !b);
    CHECK(!a || !b ||
          (a->len == b->len && !memcmp(a->bytes, b->bytes, a->len)));
}

static void
check_same(const struct tree *a, const struct tree *b)
{
    const struct inode *i, *j;
    uint64_t n = 0, m = 0;

    for (; (i = (struct inode *)radix_next(&a->inodes, &n)); n++, m++) {
        j = (struct inode *)radix_next(&b->inodes, &m);
        CHECK_EQ(m, n);
        if (!j || m != n)
            return;
        CHECK(i->mode == j->mode && i->uid == j->uid && i->gid == j->gid &&
              i->nlink == j->nlink && i->atime_ns == j->atime_ns &&
              i->mtime_ns == j->mtime_ns && i->ctime_ns == j->ctime_ns);
        check_same_xattrs(i->xattrs, j->xattrs);
        if (inode_is_dir(i))
            check_same_names(i, j);
        else
            check_same_blocks(i, j);
    }
    CHECK(!radix_next(&b->inodes, &m));
    check_used(b);
    check_links(b);
    check_blocks(b);
    CHECK(b->used.bytes <= a->used.bytes);
    CHECK_EQ(b->used.inodes, a->used.inodes);
}

/* --- random operations */

/* A base like a root image: contents point into foreign memory. */
static void
make_base(struct tree *t, unsigned *seed)
{
    static char image[40000];
    const struct inode *i;

    memset(image, 'i', sizeof image);
    CHECK_EQ(tree_init(t, &plenty, 1), 0);
    for (int n = 0; n < 40; n++)
        random_name(t, seed);
    for (int n = 0; n < 10; n++)
        random_xattr(t, seed);
    for (uint64_t n = 0; (i = (struct inode *)radix_next(&t->inodes, &n)); n++)
        if (S_ISREG(i->mode))
            CHECK_EQ(tree_map(t, n, 0, image, dice(seed, sizeof image)), 0);
    tree_uncharge(t);
}

static void
random_step(struct world *w, unsigned *seed)
{
    unsigned what = dice(seed, 100);

    if (what < 10)
        random_hold(w, seed);
    else if (what < 20)
        random_xattr(&w->t, seed);
    else if (what < 50)
        random_content(&w->t, seed);
    else
        random_name(&w->t, seed);
}

/* What is held does not come into clones. */
static void
commit(struct map *m, const struct tree *base, struct tree *last,
       const struct tree *t)
{
    struct tree now;

    CHECK_EQ(tree_clone(t, &now), 0);
    (void)map_update(m, base, last, &now);
    tree_fini(last);
    *last = now;
}

TEST(records_follow_a_tree_through_random_operations)
{
    struct tree base, last, copy, old;
    unsigned seed = 11;
    struct map m = {0};
    struct world w = {0};

    make_base(&base, &seed);
    CHECK_EQ(tree_clone(&base, &w.t), 0);
    CHECK_EQ(tree_clone(&base, &last), 0);
    CHECK_EQ(tree_clone(&base, &old), 0);
    for (int step = 0; step < 3000; step++) {
        for (unsigned n = dice(&seed, 6); n; n--)
            random_step(&w, &seed);
        if (step % 50 == 0) { /* as restore and snapshot do */
            tree_fini(&w.t);
            memset(&w, 0, sizeof w);
            CHECK_EQ(tree_clone(&old, &w.t), 0);
        } else if (step % 50 == 33) {
            tree_fini(&old);
            CHECK_EQ(tree_clone(&w.t, &old), 0);
        }
        commit(&m, &base, &last, &w.t);
        if (step % 4)
            continue;
        CHECK_EQ(map_load(&m, &base, &plenty, &copy), 0);
        check_same(&last, &copy);
        tree_fini(&copy);
    }
    tree_fini(&w.t);
    tree_fini(&last);
    tree_fini(&old);
    tree_fini(&base);
    map_fini(&m);
}

TEST(records_of_the_base_itself_are_none)
{
    struct tree base, now;
    unsigned seed = 3;
    struct map m = {0};

    make_base(&base, &seed);
    CHECK_EQ(tree_clone(&base, &now), 0);
    CHECK_EQ(map_update(&m, &base, &base, &now), 0);
    CHECK_EQ(tree_setattr(&now, TREE_ROOT, &dir_attr, ATTR_UID, 9), 0);
    CHECK_EQ(map_update(&m, &base, &base, &now), 1);
    CHECK_EQ(map_update(&m, &base, &now, &base), 1);
    CHECK_EQ(m.n, 0);
    tree_fini(&now);
    tree_fini(&base);
    map_fini(&m);
}

/* --- places */

/* The places of `ino` and all above it lead to the root as in the base. */
static void
check_place(const struct map *m, const struct tree *base, uint64_t ino)
{
    for (int depth = 0; ino != TREE_ROOT && depth < 100; depth++) {
        const struct record_key k = {
            .type = RECORD_PLACE, .mount = 5, .inode = ino};
        struct record_place place = {0};
        uint8_t key[RECORD_KEY_MAX];
        uint64_t found = 0;
        const struct pair *p = map_find(m, key, record_key_put(&k, key));
        CHECK(p && !record_place_get(p->value, p->len, &place));
        if (!place.dir)
            return;
        CHECK_EQ(tree_lookup(base, place.dir,
                             (struct name){place.name, place.name_len}, &found),
                 0);
        CHECK_EQ(found, ino);
        ino = place.dir;
    }
    CHECK_EQ(ino, TREE_ROOT);
}

static void
check_places(const struct map *m, const struct tree *base,
             const struct tree *now)
{
    const struct inode *i;

    for (uint64_t n = 0; (i = (struct inode *)radix_next(&now->inodes, &n));
         n++)
        if (tree_find(base, n) && tree_find(base, n) != i)
            check_place(m, base, n);
}

TEST(each_inode_of_the_base_that_is_recorded_has_its_place)
{
    struct tree base, last;
    unsigned seed = 5;
    struct map m = {0};
    struct world w = {0};
    const struct record_sink to = {map_put, &m};

    make_base(&base, &seed);
    CHECK_EQ(tree_clone(&base, &w.t), 0);
    CHECK_EQ(tree_clone(&base, &last), 0);
    for (int step = 0; step < 300; step++) {
        random_step(&w, &seed);
        CHECK_EQ(tree_records(&base, &last, &w.t, RECORD_PLACE, 5, &to), 0);
        check_places(&m, &base, &w.t);
        tree_fini(&last);
        CHECK_EQ(tree_clone(&w.t, &last), 0);
    }
    CHECK(m.n);
    m.n_sent = 0;
    CHECK_EQ(tree_records(&base, &last, &w.t, RECORD_PLACE, 5, &to), 0);
    CHECK_EQ(m.n_sent, 0);
    tree_fini(&w.t);
    tree_fini(&last);
    tree_fini(&base);
    map_fini(&m);
}

/* --- costs and bounds */

struct pair_of {
    struct tree base, last, now;
};

static void
pair_init(struct pair_of *p)
{
    CHECK_EQ(tree_init(&p->base, &plenty, 1), 0);
    CHECK_EQ(tree_clone(&p->base, &p->now), 0);
    p->last = (struct tree){0};
}

static void
pair_keep(struct pair_of *p)
{
    tree_fini(&p->last);
    CHECK_EQ(tree_clone(&p->now, &p->last), 0);
}

static void
pair_fini(struct pair_of *p)
{
    tree_fini(&p->now);
    tree_fini(&p->last);
    tree_fini(&p->base);
}

TEST(one_byte_of_a_large_file_is_two_records)
{
    static char mib[1 << 20];
    struct pair_of p;
    struct map m = {0};
    uint64_t ino;

    pair_init(&p);
    CHECK_EQ(tree_create(&p.now, TREE_ROOT, (struct name){"f", 1}, &file_attr,
                         1, &ino),
             0);
    for (uint64_t at = 0; at < 100 << 20; at += sizeof mib)
        CHECK_EQ(tree_write(&p.now, ino, at, mib, sizeof mib, 1), sizeof mib);
    pair_keep(&p);
    CHECK_EQ(tree_write(&p.now, ino, 77777777, "x", 1, 2), 1);
    CHECK_EQ(map_update(&m, &p.base, &p.last, &p.now), 2);
    pair_keep(&p);
    CHECK_EQ(map_update(&m, &p.base, &p.last, &p.now), 0);
    pair_fini(&p);
    map_fini(&m);
}

TEST(one_name_of_many_is_three_records)
{
    struct pair_of p;
    struct map m = {0};
    uint64_t ino;
    char name[16];

    pair_init(&p);
    for (int i = 0; i < 10000; i++)
        CHECK_EQ(
            tree_create(&p.now, TREE_ROOT,
                        (struct name){
                            name, (size_t)snprintf(name, sizeof name, "%d", i)},
                        &file_attr, 1, &ino),
            0);
    pair_keep(&p);
    CHECK_EQ(tree_create(&p.now, TREE_ROOT, (struct name){"new", 3}, &file_attr,
                         2, &ino),
             0);
    CHECK_EQ(map_update(&m, &p.base, &p.last, &p.now), 3);
    pair_keep(&p);
    CHECK_EQ(tree_unlink(&p.now, TREE_ROOT, (struct name){"5", 1}, 0, 3), 0);
    CHECK_EQ(tree_create(&p.now, TREE_ROOT, (struct name){"5", 1}, &file_attr,
                         3, &ino),
             0);
    CHECK_EQ(map_update(&m, &p.base, &p.last, &p.now), 4);
    pair_fini(&p);
    map_fini(&m);
}

/* Earlier versions counted blocks alone. */
TEST(records_of_sparse_files_need_room_for_their_blocks_only)
{
    const struct quota blocks = {8192, 10}, fewer = {8191, 10};
    const uint64_t far = UINT64_C(1) << 46;
    struct pair_of p;
    struct map m = {0};
    struct tree t;
    uint64_t ino;

    pair_init(&p);
    CHECK_EQ(tree_create(&p.now, TREE_ROOT, (struct name){"f", 1}, &file_attr,
                         1, &ino),
             0);
    CHECK_EQ(tree_write(&p.now, ino, far - 1, "x", 1, 1), 1);
    CHECK_EQ(tree_write(&p.now, ino, 2 * far - 1, "x", 1, 1), 1);
    (void)map_update(&m, &p.base, &p.base, &p.now);
    CHECK_EQ(map_load(&m, &p.base, &fewer, &t), -ENOSPC);
    CHECK_EQ(map_load(&m, &p.base, &blocks, &t), 0);
    CHECK_EQ(t.used.bytes, p.now.used.bytes);
    CHECK_EQ(tree_write(&t, ino, 0, "x", 1, 1), -ENOSPC);
    tree_fini(&t);
    pair_fini(&p);
    map_fini(&m);
}

TEST(records_that_exceed_the_quota_are_refused)
{
    const struct quota few = {UINT64_C(1) << 30, 1}, small = {4096, 10};
    struct pair_of p;
    struct map m = {0};
    struct tree t;
    uint64_t ino;

    pair_init(&p);
    CHECK_EQ(tree_create(&p.now, TREE_ROOT, (struct name){"d", 1}, &dir_attr, 1,
                         &ino),
             0);
    CHECK_EQ(
        tree_create(&p.now, ino, (struct name){"f", 1}, &file_attr, 1, &ino),
        0);
    CHECK_EQ(tree_write(&p.now, ino, 4000,
                        "0123456789abcdefghijklmnopqrstuv"
                        "wxyz0123456789abcdefghijklmnopqr"
                        "stuvwxyz0123456789abcdefghijklmn"
                        "opqrstuv",
                        104, 1),
             104);
    (void)map_update(&m, &p.base, &p.base, &p.now);
    CHECK_EQ(map_load(&m, &p.base, &few, &t), -ENOSPC);
    CHECK_EQ(map_load(&m, &p.base, &small, &t), -ENOSPC);
    CHECK_EQ(map_load(&m, &p.base, &plenty, &t), 0);
    tree_fini(&t);
    pair_fini(&p);
    map_fini(&m);
}

/* --- hostile records */

static void
put_inode(struct map *m, uint64_t ino, uint32_t mode, uint64_t size)
{
    const struct record_key k = {.type = RECORD_INODE, .inode = ino};
    const struct record_inode r = {.mode = mode, .size = size};
    const struct record_sink to = {map_put, m};
    uint8_t b[RECORD_FIXED_MAX];

    CHECK_EQ(record_send(&to, &k, b, record_inode_put(&r, b)), 0);
}

static void
put_name(struct map *m, uint64_t dir, const char *name, uint64_t ino,
         uint64_t seq)
{
    const struct record_key k = {.type = RECORD_NAME,
                                 .inode = dir,
                                 .name = name,
                                 .name_len = strlen(name)};
    const struct record_name r = {.inode = ino, .seq = seq};
    const struct record_sink to = {map_put, m};
    uint8_t b[RECORD_FIXED_MAX];

    CHECK_EQ(record_send(&to, &k, b, record_name_put(&r, b)), 0);
}

static void
put_block(struct map *m, uint64_t ino, uint64_t index, const char *bytes,
          size_t len)
{
    const struct record_key k = {
        .type = RECORD_BLOCK, .inode = ino, .index = index};
    const struct record_sink to = {map_put, m};

    CHECK_EQ(record_send(&to, &k, bytes, len), 0);
}

/* The base has /d (2), /d/e (3), /f (4) and the link /l (5). */
static void
hostile_base(struct tree *t)
{
    uint64_t ino;

    CHECK_EQ(tree_init(t, &plenty, 1), 0);
    CHECK_EQ(
        tree_create(t, TREE_ROOT, (struct name){"d", 1}, &dir_attr, 1, &ino),
        0);
    CHECK_EQ(tree_create(t, ino, (struct name){"e", 1}, &dir_attr, 1, &ino), 0);
    CHECK_EQ(
        tree_create(t, TREE_ROOT, (struct name){"f", 1}, &file_attr, 1, &ino),
        0);
    CHECK_EQ(tree_write(t, ino, 0, "hello", 5, 1), 5);
    CHECK_EQ(tree_symlink(t, TREE_ROOT, (struct name){"l", 1}, "f", 1,
                          &file_attr, 1, &ino),
             0);
    CHECK_EQ(ino, 5);
    tree_uncharge(t);
}

/* What loading gives; takes the map's records away. */
static int
load_hostile(struct map *m, const struct tree *base)
{
    struct tree t;
    int r = map_load(m, base, &plenty, &t);

    if (r == 0) {
        check_links(&t);
        check_used(&t);
        tree_fini(&t);
    }
    while (m->n)
        map_remove(m, m->n - 1);
    return r;
}

enum { DIR_MODE = S_IFDIR | 0755, FILE_MODE = S_IFREG | 0644 };

TEST(hostile_directories_are_refused)
{
    struct map m = {0};
    struct tree base;

    hostile_base(&base);
    put_inode(&m, 6, DIR_MODE, 0); /* two that are in each other */
    put_inode(&m, 7, DIR_MODE, 0);
    put_name(&m, 6, "a", 7, 0);
    put_name(&m, 7, "b", 6, 0);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_inode(&m, 6, DIR_MODE, 0); /* one in itself */
    put_name(&m, 6, "a", 6, 0);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_name(&m, 1, "again", 2, 9); /* two names */
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_name(&m, 3, "up", 2, 0); /* the base's, moved below itself */
    put_name(&m, 1, "d", 0, 0);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_name(&m, 2, "root", 1, 5);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_name(&m, 1, "d", 0, 0); /* gone, but not empty */
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_name(&m, 1, "d", 0, 0);
    put_name(&m, 2, "e", 0, 0);
    CHECK_EQ(load_hostile(&m, &base), 0);
    put_name(&m, 1, "moved", 3, 9);
    put_name(&m, 2, "e", 0, 0);
    CHECK_EQ(load_hostile(&m, &base), 0);
    tree_fini(&base);
    map_fini(&m);
}

TEST(hostile_names_are_refused)
{
    struct map m = {0};
    struct tree base;

    hostile_base(&base);
    put_name(&m, 1, "nothing", 99, 9);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_name(&m, 1, "never", 0, 0);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_name(&m, 4, "in-a-file", 5, 0);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_name(&m, 99, "nowhere", 4, 0);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_name(&m, 1, "taken", 4, 1); /* the sequence number of /f */
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_inode(&m, 6, FILE_MODE, 0); /* without a name */
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_name(&m, 1, "link", 4, 9);
    CHECK_EQ(load_hostile(&m, &base), 0);
    tree_fini(&base);
    map_fini(&m);
}

TEST(hostile_inodes_and_blocks_are_refused)
{
    struct map m = {0};
    struct tree base;

    hostile_base(&base);
    put_inode(&m, 4, DIR_MODE, 0); /* another kind */
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_inode(&m, 5, S_IFLNK | 0777, 7); /* a link with another target */
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_block(&m, 5, 0, "d", 1);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_inode(&m, 6, S_IFLNK | 0777, 3); /* without a target */
    put_name(&m, 1, "link", 6, 9);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_inode(&m, 6, S_IFLNK | 0777, 3);
    put_name(&m, 1, "link", 6, 9);
    put_block(&m, 6, 0, "a\0b", 3);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_block(&m, 4, 0, "longer", 6); /* past the end */
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_block(&m, 4, 7, "", 0); /* a hole where there is no block */
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_block(&m, 2, 0, "x", 1);
    CHECK_EQ(load_hostile(&m, &base), -EINVAL);
    put_block(&m, 4, 0, "HELLO", 5);
    CHECK_EQ(load_hostile(&m, &base), 0);
    put_block(&m, 4, 0, "", 0);
    CHECK_EQ(load_hostile(&m, &base), 0);
    tree_fini(&base);
    map_fini(&m);
}

TEST(numbers_of_the_base_are_not_used_again)
{
    const struct name last = {"l", 1}, first = {"a", 1};
    struct tree base, now, copy;
    struct map m = {0};
    uint64_t ino;

    hostile_base(&base);
    CHECK_EQ(tree_clone(&base, &now), 0);
    CHECK_EQ(tree_unlink(&now, TREE_ROOT, last, 0, 2), 0);
    CHECK_EQ(tree_create(&now, TREE_ROOT, first, &dir_attr, 2, &ino), 0);
    CHECK_EQ(ino, 6);
    (void)map_update(&m, &base, &base, &now);
    CHECK_EQ(map_load(&m, &base, &plenty, &copy), 0);
    check_same(&now, &copy);
    tree_fini(&copy);
    tree_fini(&now);
    tree_fini(&base);
    map_fini(&m);
}

/* --- memory */

TEST(a_draft_without_memory_leaves_nothing)
{
    struct tree base, t;
    struct map m = {0};
    int r;

    hostile_base(&base);
    put_inode(&m, 6, FILE_MODE, 3);
    put_inode(&m, 7, DIR_MODE, 0);
    put_name(&m, 1, "d", 7, 9);
    put_name(&m, 2, "e", 0, 0);
    put_name(&m, 7, "f", 6, 0);
    put_block(&m, 6, 0, "abc", 3);
    EACH_OOM(oom) {
        r = map_load(&m, &base, &plenty, &t);
        CHECK(r == 0 || r == -ENOMEM);
        if (r == 0)
            tree_fini(&t);
    }
    tree_fini(&base);
    map_fini(&m);
}
