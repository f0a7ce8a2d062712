/* Reading tars with libarchive, without copying contents.
 *
 * libarchive reads from the mapped file, and returns pointers into it for
 * contents that are stored as they are. Such a piece is lasting, and a root
 * image refers to it. Everything else (sparse files) arrives in buffers of
 * libarchive, and is copied by the tree. */
#include "host/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A source of entries over a tar in memory. It can be read several times,
 * because rewinding opens the archive anew. */
struct tar_reader {
    struct entry_source source;
    const uint8_t *map;
    size_t len;
    struct archive *archive; /* NULL: not begun */
    struct archive_entry *entry;
    struct xattrs *xattrs; /* of the entry, or NULL */
    struct image_error *err;
    locale_t utf8, before; /* 0: not set */
};

static uint64_t
tar_position(const struct tar_reader *t)
{
    int64_t at = archive_read_header_position(t->archive);

    return at > 0 ? (uint64_t)at : 0; /* < 0: no tar at all */
}

static int
tar_refuse(struct tar_reader *t, const char *why)
{
    t->err->offset = tar_position(t);
    (void)snprintf(t->err->reason, sizeof t->err->reason, "%s", why);
    return -EINVAL;
}

/* Refuses the archive with the reason that libarchive reports. */
static int
tar_refuse_archive(struct tar_reader *t)
{
    const char *why = archive_error_string(t->archive);

    if (archive_errno(t->archive) == ENOMEM)
        return -ENOMEM;
    return tar_refuse(t, why ? why : "not a tar archive");
}

/* A tar ends with a block of zeros. One that stops without it was cut;
 * libarchive would accept it. */
static int
tar_check_end(struct tar_reader *t)
{
    static const uint8_t zeros[512];
    int64_t at = archive_read_header_position(t->archive);

    if (at < 0 || (uint64_t)at > t->len || t->len - (uint64_t)at < 512 ||
        memcmp(t->map + at, zeros, 512) != 0)
        return tar_refuse(t, "the archive ends without its end mark");
    return 0;
}

/* Only the tar formats are enabled: an image that is compressed, or another
 * kind of archive, is refused. */
static int
tar_rewind(struct entry_source *s)
{
    struct tar_reader *t = (struct tar_reader *)s;

    archive_read_free(t->archive);
    t->archive = archive_read_new();
    if (!t->archive)
        return -ENOMEM;
    (void)archive_read_support_format_tar(t->archive);
    return archive_read_open_memory(t->archive, t->map, t->len)
               ? tar_refuse_archive(t)
               : 0;
}

/* Decodes the name of a SCHILY.xattr record. GNU tar and libarchive write bytes
 * that a header cannot hold as %XX. */
static void
tar_decode_name(const char *in, char *out, size_t size)
{
    size_t n = 0;

    while (*in && n + 1 < size) {
        const char hex[3] = {in[1], in[1] ? in[2] : '\0'};
        char *end = NULL;
        unsigned long c = *in == '%' ? strtoul(hex, &end, 16) : 0;
        bool is_code = c && end == hex + 2;
        out[n++] = (char)(is_code ? c : (unsigned char)*in);
        in += is_code ? 3 : 1;
    }
    out[n] = 0;
}

/* Collects the attributes of the name space "user."; others are of the system
 * that wrote the archive, and are left out. */
static int
tar_read_xattrs(struct tar_reader *t)
{
    const char *name;
    const void *value;
    size_t len;
    int r = 0;

    (void)archive_entry_xattr_reset(t->entry);
    while (r == 0 && archive_entry_xattr_next(t->entry, &name, &value, &len) ==
                         ARCHIVE_OK) {
        char plain[XATTR_NAME_BYTES + 1];
        struct xattrs *with = NULL;
        tar_decode_name(name, plain, sizeof plain);
        if (xattr_check_name(plain) != 0)
            continue;
        r = xattrs_with(t->xattrs, (struct xattr_name){plain, strlen(plain)},
                        value ? value : "", len, &with);
        if (r == 0) {
            xattrs_put(t->xattrs);
            t->xattrs = with;
        }
    }
    return r;
}

static int
tar_next(struct entry_source *s, struct entry *ret)
{
    struct tar_reader *t = (struct tar_reader *)s;

    xattrs_put(STEAL(t->xattrs));
    int r = archive_read_next_header(t->archive, &t->entry);
    if (r)
        return r == ARCHIVE_EOF ? tar_check_end(t) : tar_refuse_archive(t);
    struct archive_entry *e = t->entry;
    *ret = (struct entry){
        .path = archive_entry_pathname(e),
        .hardlink = archive_entry_hardlink(e),
        .target = archive_entry_symlink(e),
        .mode = archive_entry_filetype(e) | archive_entry_perm(e),
        .uid = archive_entry_uid(e),
        .gid = archive_entry_gid(e),
        .size = archive_entry_size(e),
        .mtime_s = archive_entry_mtime(e),
        .mtime_ns = archive_entry_mtime_nsec(e),
        .offset = tar_position(t),
    };
    if (!ret->hardlink && (S_ISREG(ret->mode) || S_ISDIR(ret->mode)))
        r = tar_read_xattrs(t);
    ret->xattrs = t->xattrs;
    return r < 0 ? r : 1;
}

/* Comparing addresses as integers is well-defined, unlike comparing pointers
 * into different objects. */
static bool
tar_is_in_map(const struct tar_reader *t, const void *p, size_t n)
{
    uintptr_t at = (uintptr_t)p, map = (uintptr_t)t->map;

    return at >= map && at - map <= t->len && n <= t->len - (at - map);
}

static int
tar_read(struct entry_source *s, struct piece *ret)
{
    struct tar_reader *t = (struct tar_reader *)s;
    int64_t at;

    int r = archive_read_data_block(t->archive, &ret->p, &ret->len, &at);
    if (r)
        return r == ARCHIVE_EOF ? 0 : tar_refuse_archive(t);
    ret->at = (uint64_t)at;
    ret->is_lasting = tar_is_in_map(t, ret->p, ret->len);
    return 1;
}

/* libarchive converts names of PAX headers from UTF-8 to the encoding of the
 * locale. This thread therefore uses a UTF-8 locale while it reads; others are
 * unaffected. */
static void
tar_open(struct tar_reader *t, const void *map, size_t len,
         struct image_error *err)
{
    *t = (struct tar_reader){
        .source = {tar_rewind, tar_next, tar_read},
        .map = map,
        .len = len,
        .err = err,
        .utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0),
    };
    t->before = t->utf8 ? uselocale(t->utf8) : (locale_t)0;
}

static void
tar_close(struct tar_reader *t)
{
    archive_read_free(t->archive);
    xattrs_put(t->xattrs);
    if (t->utf8) {
        (void)uselocale(t->before);
        freelocale(t->utf8);
    }
}

int
tar_index(const void *map, size_t len, OWN struct image **ret,
          struct image_error *err)
{
    struct tar_reader t;

    tar_open(&t, map, len, err);
    int r = image_index(&t.source, ret, err);
    tar_close(&t);
    return r;
}

int
tar_apply(const void *tar, size_t len, struct tree *tree,
          struct layer_manifest *manifest, struct image_error *err)
{
    struct tar_reader t;

    tar_open(&t, tar, len, err);
    int r = layer_apply(&t.source, tree, manifest, err);
    tar_close(&t);
    return r;
}
