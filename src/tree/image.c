/* Root images: an indexed tree with a count of its users. */
#include "tree/image.h"

#include "tree/image_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct image {
    struct shared ref;
    struct tree tree;
};

int
image_refuse(struct indexer *x, const char *format, ...)
{
    va_list ap;

    x->err->offset = x->entry.offset;
    va_start(ap, format);
    (void)vsnprintf(x->err->reason, sizeof x->err->reason, format, ap);
    va_end(ap);
    return -EINVAL;
}

int
image_read(struct indexer *x, int (*add)(struct indexer *x))
{
    int r = x->from->rewind(x->from);

    while (r == 0 && (r = x->from->next(x->from, &x->entry)) > 0)
        r = add(x);
    return r;
}

static int
image_new(OWN struct image **ret)
{
    static const struct quota all = {UINT64_MAX, UINT64_MAX};
    struct image *img = calloc(1, sizeof *img);
    if (!img)
        return -ENOMEM;
    shared_init(&img->ref);
    int r = tree_init(&img->tree, &all, 0);
    if (r < 0) {
        free(img);
        return r;
    }
    *ret = img;
    return 0;
}

int
image_index(struct entry_source *from, OWN struct image **ret,
            struct image_error *err)
{
    CLEANUP(image_putp) struct image *img = NULL;
    int r = image_new(&img);
    if (r < 0)
        return r;
    struct indexer x = {.from = from, .tree = &img->tree, .err = err};
    r = image_read(&x, image_add_entry);
    if (r < 0)
        return r;
    tree_uncharge(&img->tree);
    *ret = STEAL(img);
    return 0;
}

struct image *
image_get(struct image *img)
{
    shared_get(&img->ref);
    return img;
}

void
image_put(OWN struct image *img)
{
    if (img && shared_put(&img->ref)) {
        tree_fini(&img->tree);
        free(img);
    }
}

const struct tree *
image_tree(const struct image *img)
{
    return &img->tree;
}
