/* Fuzzes the reader of exports: any bytes are refused or change a tree within
 * its quota; what came out can be written again. */
#include "host/tar.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
fill(struct tree *t)
{
    const struct attr dir = {.mode = S_IFDIR | 0755};
    const struct attr file = {.mode = S_IFREG | 0644};
    const struct quota max = {1 << 20, 100};
    uint64_t a, b;

    if (tree_init(t, &max, 0) < 0 ||
        tree_create(t, TREE_ROOT, (struct name){"a", 1}, &dir, 0, &a) < 0 ||
        tree_create(t, a, (struct name){"b", 1}, &file, 0, &b) < 0 ||
        tree_write(t, b, 0, "text", 4, 0) != 4)
        abort();
    tree_uncharge(t);
}

static void
check(const struct tree *t)
{
    struct quota used;

    tree_recount(t, &used);
    if (used.bytes != t->used.bytes || used.inodes != t->used.inodes ||
        used.bytes > t->max.bytes || used.inodes > t->max.inodes)
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct layer_manifest manifest = {.name = ".wasmsand.json"};
    struct tree base = {0}, t = {0};
    struct image_error err;
    struct buf out;

    fill(&base);
    if (tree_clone(&base, &t) < 0)
        abort();
    int r = tar_apply(data, size, &t, &manifest, &err);
    check(&t);
    buf_init(&out, 64 << 20);
    if (r == 0) {
        r = tar_write(&base, &t, &manifest, &out, &err);
        if (r < 0 && r != -EINVAL && r != -EFBIG)
            abort();
    }
    buf_fini(&out);
    free(manifest.data);
    tree_fini(&t);
    tree_fini(&base);
    return 0;
}
