/* Root images: reading a tar with libarchive, without copying contents. */
#include "tree/image.h"

#include "tree/image_impl.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
    struct shared ref;
    struct tree tree;
};

int
image_refuse(struct indexer *x, const char *format, ...)
{
    va_list ap;

    int64_t at = archive_read_header_position(x->archive);
    x->err->offset = at > 0 ? (uint64_t)at : 0; /* < 0: no tar at all */
    va_start(ap, format);
    (void)vsnprintf(x->err->reason, sizeof x->err->reason, format, ap);
    va_end(ap);
    return -EINVAL;
}

int
image_refuse_archive(struct indexer *x)
{
    const char *why = archive_error_string(x->archive);

    if (archive_errno(x->archive) == ENOMEM)
        return -ENOMEM;
    return image_refuse(x, "%s", why ? why : "not a tar archive");
}

/* A tar ends with a block of zeros; one that just stops was cut. */
static int
check_end(struct indexer *x)
{
    static const uint8_t zeros[512];
    int64_t at = archive_read_header_position(x->archive);

    if (at < 0 || (uint64_t)at > x->len || x->len - (uint64_t)at < 512 ||
        memcmp(x->map + at, zeros, 512) != 0)
        return image_refuse(x, "the archive ends without its end mark");
    return 0;
}

static int
add_entries(struct indexer *x, int (*add)(struct indexer *x))
{
    int r = archive_read_open_memory(x->archive, x->map, x->len);

    while (!r && !(r = archive_read_next_header(x->archive, &x->entry))) {
        r = add(x);
        if (r < 0)
            return r;
    }
    return r == ARCHIVE_EOF ? check_end(x) : image_refuse_archive(x);
}

/* libarchive converts names of PAX headers from UTF-8 to the locale's
 * encoding: so that is UTF-8, for this thread, while it reads. */
int
image_read(struct indexer *x, int (*add)(struct indexer *x))
{
    x->archive = archive_read_new();
    if (!x->archive)
        return -ENOMEM;
    (void)archive_read_support_format_tar(x->archive);
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t old = utf8 ? uselocale(utf8) : (locale_t)0;
    int r = add_entries(x, add);
    archive_read_free(x->archive);
    if (utf8) {
        (void)uselocale(old);
        freelocale(utf8);
    }
    return r;
}

static void
image_free(struct image *img)
{
    tree_fini(&img->tree);
    free(img);
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
image_index(const void *map, size_t len, OWN struct image **ret,
            struct image_error *err)
{
    CLEANUP(image_putp) struct image *img = NULL;
    int r = image_new(&img);
    if (r < 0)
        return r;
    struct indexer x = {.map = map, .len = len, .tree = &img->tree, .err = err};
    r = image_read(&x, image_add_entry);
    if (r < 0)
        return r;
    tree_make_free(&img->tree);
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
    if (img && shared_put(&img->ref))
        image_free(img);
}

const struct tree *
image_tree(const struct image *img)
{
    return &img->tree;
}
