/* Writing tars: ustar headers, with a PAX header before each entry that has
 * more than ustar can hold.
 *
 * The extensions are those that GNU tar and libarchive read. POSIX has path,
 * linkpath, size, uid, gid and mtime; SCHILY.xattr is for extended attributes.
 * Files with holes are in the form of GNU.sparse 1.0: their content begins with
 * a map of the parts that follow. */
#include "host/tar.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    BLOCK_BYTES = 512,
    HEADER_BYTES_MAX = 1 << 20, /* PAX records: attributes are at most 64 KiB */
};
#define OCTAL7_MAX  INT64_C(07777777)
#define OCTAL11_MAX INT64_C(077777777777)

/* The header of POSIX.1-1988. Numbers are octal digits. */
struct ustar {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8];
    char type, linkname[100], magic[6], version[2], uname[32], gname[32];
    char major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct ustar) == BLOCK_BYTES, "a header is a block");

/* A sink that appends to `out`. Errors of the buffers are remembered there, and
 * checked once for each entry. */
struct tar_writer {
    struct entry_sink sink;
    struct buf *out;
    size_t start;   /* of the tar in `out` */
    struct buf pax; /* records of the entry */
    struct buf map; /* of its holes */
};

/* --- PAX records: "LENGTH KEY=VALUE\n", where LENGTH counts itself */

/* The length counts its own digits: one more digit may be needed because of
 * them. */
static void
tar_write_pax_add(struct buf *b, const char *key, const void *value, size_t len)
{
    size_t rest = strlen(key) + len + 3, digits = 1;

    for (size_t end = 10; rest + digits >= end; end *= 10)
        digits++;
    buf_printf(b, "%zu %s=", rest + digits, key);
    buf_add(b, value, len);
    buf_puts(b, "\n");
}

static void
tar_write_pax_add_text(struct buf *b, const char *key, const char *value)
{
    tar_write_pax_add(b, key, value, strlen(value));
}

static void
tar_write_pax_add_number(struct buf *b, const char *key, int64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    tar_write_pax_add_text(b, key, text);
}

/* Writes seconds rounded down, and a fraction that is added to them, also
 * before 1970. libarchive reads it in this way. */
static void
tar_write_pax_add_time(struct buf *b, const char *key, int64_t s, int64_t ns)
{
    char text[40];

    (void)snprintf(text, sizeof text, "%lld.%09d", (long long)s, (int)ns);
    tar_write_pax_add_text(b, key, text);
}

/* --- names */

static bool
tar_write_is_ascii(const char *s)
{
    while (*s && (unsigned char)*s < 0x80)
        s++;
    return !*s;
}

/* The bytes of the UTF-8 sequence at s, or 0. */
static size_t
tar_write_utf8_len(const unsigned char *s)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = *s < 0x80   ? 1
               : *s < 0xc0 ? 0
               : *s < 0xe0 ? 2
               : *s < 0xf0 ? 3
                           : 4;
    uint32_t c = n == 1 ? *s : *s & (0x7fu >> n);

    if (!n || *s > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

static bool
tar_write_is_utf8(const char *s)
{
    for (size_t n; *s; s += n)
        if (!(n = tar_write_utf8_len((const unsigned char *)s)))
            return false;
    return true;
}

/* Puts a path into `name`, or into `prefix` and `name`, which readers join with
 * a slash. Returns false if it does not fit. */
static bool
ustar_set_path(struct ustar *h, const char *path)
{
    size_t len = strlen(path);
    const char *name = path;

    if (len > sizeof h->name) {
        name = strchr(path + len - sizeof h->name - 1, '/');
        if (!name || !name[1] || name == path ||
            (size_t)(name - path) > sizeof h->prefix)
            return false;
        memcpy(h->prefix, path, (size_t)(name - path));
        name++;
    }
    memcpy(h->name, name, strlen(name));
    return true;
}

/* --- headers */

/* Writes octal digits and a NUL; 0 for a number that does not fit, whose value
 * is in the PAX header then. */
static void
tar_write_ustar_set_number(char *field, size_t size, int64_t v)
{
    int64_t max = (INT64_C(1) << (3 * (size - 1))) - 1;

    (void)snprintf(field, size, "%0*llo", (int)size - 1,
                   v < 0 || v > max ? 0ULL : (unsigned long long)v);
}

/* The checksum is computed with its own field as blanks. */
static void
tar_put_header(struct tar_writer *w, struct ustar *h)
{
    const unsigned char *p = (const unsigned char *)h;
    unsigned sum = 0;

    memcpy(h->magic, "ustar", sizeof h->magic);
    memcpy(h->version, "00", sizeof h->version);
    memset(h->sum, ' ', sizeof h->sum);
    for (size_t i = 0; i < sizeof *h; i++)
        sum += p[i];
    (void)snprintf(h->sum, sizeof h->sum - 1, "%06o", sum);
    buf_add(w->out, h, sizeof *h);
}

/* Everything in a tar begins at a multiple of 512 bytes from its start. */
static void
tar_pad(struct tar_writer *w)
{
    static const char zeros[BLOCK_BYTES];
    size_t tail = (w->out->len - w->start) % BLOCK_BYTES;

    if (tail)
        buf_add(w->out, zeros, BLOCK_BYTES - tail);
}

static void
tar_put_pax(struct tar_writer *w)
{
    struct ustar h = {.name = "PaxHeader", .type = 'x'};

    tar_write_ustar_set_number(h.mode, sizeof h.mode, 0644);
    tar_write_ustar_set_number(h.uid, sizeof h.uid, 0);
    tar_write_ustar_set_number(h.gid, sizeof h.gid, 0);
    tar_write_ustar_set_number(h.size, sizeof h.size, (int64_t)w->pax.len);
    tar_write_ustar_set_number(h.mtime, sizeof h.mtime, 0);
    tar_put_header(w, &h);
    buf_add(w->out, w->pax.p, w->pax.len);
    tar_pad(w);
}

static char
tar_write_type_of(const struct entry *e)
{
    if (e->hardlink)
        return '1';
    return S_ISLNK(e->mode)    ? '2'
           : S_ISDIR(e->mode)  ? '5'
           : S_ISFIFO(e->mode) ? '6'
                               : '0';
}

/* --- what ustar cannot hold */

/* Adds the extended attributes as SCHILY.xattr records. In their names, %XX
 * stands for bytes that a header cannot hold. */
static void
tar_add_xattrs(struct tar_writer *w, const struct xattrs *x)
{
    struct record_attr a;

    for (size_t at = 0; x && record_attr_get(x->bytes, x->len, &at, &a) > 0;) {
        char key[32 + 3 * XATTR_NAME_BYTES];
        size_t n = (size_t)snprintf(key, sizeof key, "SCHILY.xattr.");
        for (size_t i = 0; i < a.name_len; i++) {
            unsigned char c = (unsigned char)a.name[i];
            bool is_plain = c > ' ' && c < 0x7f && c != '%' && c != '=';
            n += (size_t)snprintf(key + n, sizeof key - n,
                                  is_plain ? "%c" : "%%%02X", c);
        }
        tar_write_pax_add(&w->pax, key, a.value, a.value_len);
    }
}

/* Names that do not fit, or are not ASCII, go to the PAX header, and the ustar
 * header has a placeholder. hdrcharset says that a name is not UTF-8. */
static void
tar_add_names(struct tar_writer *w, const struct entry *e, struct ustar *h)
{
    const char *link = e->hardlink ? e->hardlink : e->target;
    bool has_link = link && (strlen(link) > sizeof h->linkname ||
                             !tar_write_is_ascii(link));
    bool has_path = e->is_sparse || !tar_write_is_ascii(e->path) ||
                    !ustar_set_path(h, e->path);

    if ((has_path && !tar_write_is_utf8(e->path)) ||
        (has_link && !tar_write_is_utf8(link)))
        tar_write_pax_add_text(&w->pax, "hdrcharset", "BINARY");
    if (has_path) {
        tar_write_pax_add_text(
            &w->pax, e->is_sparse ? "GNU.sparse.name" : "path", e->path);
        (void)snprintf(h->name, sizeof h->name, "%s",
                       e->is_sparse ? "GNUSparseFile.0/file" : "file");
    }
    if (has_link)
        tar_write_pax_add_text(&w->pax, "linkpath", link);
    if (link) /* libarchive wants a target here, even if that is cut */
        memcpy(h->linkname, link, strnlen(link, sizeof h->linkname));
}

static void
tar_add_numbers(struct tar_writer *w, const struct entry *e, int64_t size)
{
    if (size > OCTAL11_MAX)
        tar_write_pax_add_number(&w->pax, "size", size);
    if (e->uid > OCTAL7_MAX)
        tar_write_pax_add_number(&w->pax, "uid", e->uid);
    if (e->gid > OCTAL7_MAX)
        tar_write_pax_add_number(&w->pax, "gid", e->gid);
    if (e->mtime_s < 0 || e->mtime_s > OCTAL11_MAX || e->mtime_ns)
        tar_write_pax_add_time(&w->pax, "mtime", e->mtime_s, e->mtime_ns);
}

/* Adds the map of a file with holes, padded to a block; it ends with an empty
 * part at the end of the file. Returns the number of bytes of the map and all
 * parts, which is the size of the entry in the archive. */
static int64_t
tar_add_map(struct tar_writer *w, const struct entry *e)
{
    uint64_t bytes = 0;

    w->map.len = 0;
    buf_printf(&w->map, "%zu\n", e->n_data + 1);
    for (size_t i = 0; i < e->n_data; i++) {
        buf_printf(&w->map, "%llu\n%llu\n", (unsigned long long)e->data[i].at,
                   (unsigned long long)e->data[i].len);
        bytes += e->data[i].len;
    }
    buf_printf(&w->map, "%lld\n0\n", (long long)e->size);
    while (w->map.len % BLOCK_BYTES && !w->map.error)
        buf_add(&w->map, "", 1);
    tar_write_pax_add_text(&w->pax, "GNU.sparse.major", "1");
    tar_write_pax_add_text(&w->pax, "GNU.sparse.minor", "0");
    tar_write_pax_add_number(&w->pax, "GNU.sparse.realsize", e->size);
    return (int64_t)(w->map.len + bytes);
}

static int
tar_error(const struct tar_writer *w)
{
    if (w->pax.error || w->map.error)
        return w->pax.error ? w->pax.error : w->map.error;
    return w->out->error;
}

/* The PAX records are collected first, because their header precedes that of
 * the entry. */
static int
tar_begin(struct entry_sink *s, const struct entry *e)
{
    struct tar_writer *w = (struct tar_writer *)s;
    struct ustar h = {.type = tar_write_type_of(e)};
    int64_t size = S_ISREG(e->mode) && !e->hardlink ? e->size : 0;

    tar_pad(w);
    w->pax.len = 0;
    tar_add_names(w, e, &h);
    if (e->is_sparse)
        size = tar_add_map(w, e);
    tar_add_numbers(w, e, size);
    tar_add_xattrs(w, e->xattrs);
    if (w->pax.len)
        tar_put_pax(w);
    tar_write_ustar_set_number(h.mode, sizeof h.mode, e->mode & 07777);
    tar_write_ustar_set_number(h.uid, sizeof h.uid, e->uid);
    tar_write_ustar_set_number(h.gid, sizeof h.gid, e->gid);
    tar_write_ustar_set_number(h.size, sizeof h.size, size);
    tar_write_ustar_set_number(h.mtime, sizeof h.mtime, e->mtime_s);
    tar_put_header(w, &h);
    if (e->is_sparse)
        buf_add(w->out, w->map.p, w->map.len);
    return tar_error(w);
}

static int
tar_put_data(struct entry_sink *s, const void *p, size_t len)
{
    struct tar_writer *w = (struct tar_writer *)s;

    buf_add(w->out, p, len);
    return w->out->error;
}

int
tar_write(const struct tree *base, const struct tree *t,
          const struct layer_manifest *manifest, struct buf *out,
          struct image_error *err)
{
    static const char end[2 * BLOCK_BYTES];
    struct tar_writer w = {
        .sink = {tar_begin, tar_put_data}, .out = out, .start = out->len};

    buf_init(&w.pax, HEADER_BYTES_MAX);
    buf_init(&w.map, out->max);
    int r = layer_write(base, t, manifest, &w.sink, err);
    if (r == 0) {
        tar_pad(&w);
        buf_add(out, end, sizeof end);
        r = out->error;
    }
    buf_fini(&w.pax);
    buf_fini(&w.map);
    return r;
}
