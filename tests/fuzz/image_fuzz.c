/* Fuzzes the root image reader: any bytes are indexed or refused; what was
 * indexed can be listed, read, cloned and changed. */
#include "host/tar.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_all(const struct inode *i)
{
    char buf[1000];
    int64_t n;

    for (uint64_t pos = 0; pos < i->size; pos += (uint64_t)n) {
        int64_t at = inode_seek(i, pos, SEEK_DATA);
        if (at < 0)
            return;
        pos = (uint64_t)at;
        n = inode_read(i, pos, buf, sizeof buf);
    }
}

static void
visit(struct tree *t)
{
    uint64_t ino = 0;
    const struct inode *i;

    for (; (i = (const struct inode *)radix_next(&t->inodes, &ino)); ino++) {
        if (inode_is_dir(i))
            continue;
        read_all(i);
        (void)tree_write(t, ino, i->size / 2, "x", 1, 0);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image *img;
    struct image_error err;
    struct tree t;
    struct quota used;

    if (tar_index(data, size, &img, &err) < 0)
        return 0;
    if (tree_clone(image_tree(img), &t) < 0)
        abort();
    image_put(img);
    visit(&t);
    tree_recount(&t, &used);
    if (used.bytes != t.used.bytes || used.inodes != t.used.inodes)
        abort();
    tree_fini(&t);
    return 0;
}
