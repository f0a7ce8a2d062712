/* Images and layers from entries that a list hands over, without an archive. */
#include "../unit/test.h"
#include "base/list.h"
#include "tree/layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A list of entries, as a source and as a sink. */
struct listed {
    struct entry e;
    char path[64], text[CHUNK_BYTES];
    size_t len;
};

struct entries {
    struct entry_source source;
    struct entry_sink sink;
    struct listed v[16];
    size_t n, at;
    bool has_read;
};

static int
entries_rewind(struct entry_source *s)
{
    CONTAINER_OF(s, struct entries, source)->at = 0;
    return 0;
}

static int
entries_next(struct entry_source *s, struct entry *ret)
{
    struct entries *l = CONTAINER_OF(s, struct entries, source);

    if (l->at == l->n)
        return 0;
    l->has_read = false;
    *ret = l->v[l->at++].e;
    return 1;
}

static int
entries_read(struct entry_source *s, struct piece *ret)
{
    struct entries *l = CONTAINER_OF(s, struct entries, source);
    const struct listed *e = &l->v[l->at - 1];

    if (l->has_read || !e->len)
        return 0;
    l->has_read = true;
    *ret = (struct piece){.p = e->text, .len = e->len, .is_lasting = true};
    return 1;
}

static int
entries_begin(struct entry_sink *s, const struct entry *e)
{
    struct entries *l = CONTAINER_OF(s, struct entries, sink);
    struct listed *n = &l->v[l->n];

    if (l->n == sizeof l->v / sizeof *l->v)
        return -EFBIG;
    l->n++;
    *n = (struct listed){.e = *e};
    (void)strncpy(n->path, e->path, sizeof n->path - 1);
    n->e.path = n->path;
    return 0;
}

static int
entries_write(struct entry_sink *s, const void *p, size_t len)
{
    struct entries *l = CONTAINER_OF(s, struct entries, sink);
    struct listed *e = &l->v[l->n - 1];

    if (len > sizeof e->text - e->len)
        return -EFBIG;
    memcpy(e->text + e->len, p, len);
    e->len += len;
    return 0;
}

static void
entries_init(struct entries *l)
{
    *l = (struct entries){
        .source = {entries_rewind, entries_next, entries_read},
        .sink = {entries_begin, entries_write},
    };
}

static void
add(struct entries *l, const char *path, uint32_t mode, const char *text)
{
    struct entry e = {.path = path, .mode = mode, .size = (int)strlen(text)};

    if (S_ISLNK(mode))
        e.target = text;
    CHECK_EQ(entries_begin(&l->sink, &e), 0);
    if (S_ISREG(mode))
        CHECK_EQ(entries_write(&l->sink, text, strlen(text)), 0);
}

static const struct listed *
find_entry(const struct entries *l, const char *path)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->v[i].path, path))
            return &l->v[i];
    return NULL;
}

static uint64_t
ino_of(const struct tree *t, uint64_t dir, const char *name)
{
    uint64_t ino = 0;

    (void)tree_lookup(t, dir, (struct name){name, strlen(name)}, &ino);
    return ino;
}

TEST(an_image_has_the_entries_of_its_source)
{
    struct image_error err = {0};
    struct image *img = NULL;
    struct entries l;
    char buf[16];

    entries_init(&l);
    add(&l, "bin/sh", S_IFREG | 0755, "shell");
    add(&l, "sh", S_IFLNK | 0777, "bin/sh");
    CHECK_EQ(image_index(&l.source, &img, &err), 0);
    const struct tree *t = image_tree(img);
    const struct inode *sh =
        tree_find(t, ino_of(t, ino_of(t, TREE_ROOT, "bin"), "sh"));
    CHECK_EQ(inode_read(sh, 0, buf, sizeof buf), 5);
    CHECK(!memcmp(buf, "shell", 5));
    CHECK(inode_content(sh) == l.v[0].text); /* lasting: not copied */
    const struct inode *link = tree_find(t, ino_of(t, TREE_ROOT, "sh"));
    CHECK(S_ISLNK(link->mode) && inode_read(link, 0, buf, sizeof buf) == 6);
    image_put(img);
}

TEST(an_entry_with_dots_is_refused_with_its_offset)
{
    struct image_error err = {0};
    struct image *img = NULL;
    struct entries l;

    entries_init(&l);
    add(&l, "a/../b", S_IFREG | 0755, "");
    l.v[0].e.offset = 512;
    CHECK_EQ(image_index(&l.source, &img, &err), -EINVAL);
    CHECK_EQ(err.offset, 512);
    CHECK(strstr(err.reason, "\"..\""));
}

TEST(a_layer_sends_changes_and_whiteouts_to_its_sink)
{
    static const struct quota max = {1 << 20, 100};
    struct tree base = {0}, t = {0};
    struct image_error err = {0};
    struct entries *l = malloc(sizeof *l);
    uint64_t ino = 0;

    entries_init(l);
    CHECK_EQ(tree_init(&base, &max, 1), 0);
    CHECK_EQ(tree_create(&base, TREE_ROOT, (struct name){"gone", 4},
                         &(struct attr){.mode = S_IFREG | 0644}, 1, &ino),
             0);
    tree_uncharge(&base);
    CHECK_EQ(tree_clone(&base, &t), 0);
    CHECK_EQ(tree_unlink(&t, TREE_ROOT, (struct name){"gone", 4}, 0, 2), 0);
    CHECK_EQ(tree_create(&t, TREE_ROOT, (struct name){"new", 3},
                         &(struct attr){.mode = S_IFREG | 0600}, 2, &ino),
             0);
    CHECK_EQ(tree_write(&t, ino, 0, "text", 4, 3), 4);
    CHECK_EQ(tree_truncate(&t, ino, 1 << 20, 3), 0);
    CHECK_EQ(layer_write(&base, &t, NULL, &l->sink, &err), 0);
    CHECK(find_entry(l, ".wh.gone"));
    const struct listed *new = find_entry(l, "new");
    CHECK(new &&new->e.is_sparse &&new->e.size == 1 << 20);
    CHECK(new &&new->e.n_data == 1);
    tree_fini(&t);
    tree_fini(&base);
    free(l);
}
