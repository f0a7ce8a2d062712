/* Records: keys and values. record_frame.c has the frames of a stream.
 *
 * The functions that read get bytes from workers that may be hostile, and from
 * disks that may be damaged. Each checks the length before the first byte, and
 * each number before its use. One table (form_of) describes the keys of all
 * types; the writer, the reader and the check of whole records use it.
 *
 * Keys and values are big-endian, so that memcmp sorts them by number. */
#include "record/record.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define INODE_BITS 48

/* --- numbers */

/* A position in bytes that are written; the caller has made enough space. */
struct out {
    uint8_t *at;
};

/* A position in bytes that are read; the caller has checked their length. */
struct in {
    const uint8_t *at;
};

static void
record_put(struct out *o, uint64_t v, unsigned bytes)
{
    while (bytes--)
        *o->at++ = (uint8_t)(v >> (8 * bytes));
}

static uint64_t
record_get(struct in *i, unsigned bytes)
{
    uint64_t v = 0;

    while (bytes--)
        v = v << 8 | *i->at++;
    return v;
}

static void
record_put_inode(struct out *o, uint32_t mount, uint64_t inode)
{
    record_put(o, (uint64_t)mount << INODE_BITS | inode, 8);
}

static void
record_get_inode(struct in *i, uint32_t *ret_mount, uint64_t *ret_inode)
{
    uint64_t v = record_get(i, 8);

    *ret_mount = (uint32_t)(v >> INODE_BITS);
    *ret_inode = v & (RECORD_INODE_MAX - 1);
}

/* --- keys */

/* The form of the bytes after the type, and of a value. */
struct form {
    uint8_t inode, index; /* bytes of each; 0: there is none */
    bool has_name;
    uint64_t index_min, index_end;
    int (*check)(const struct record_key *k, const void *value, size_t len);
};

static const struct form *form_of(unsigned type);

size_t
record_key_put(const struct record_key *k, uint8_t ret[RECORD_KEY_MAX])
{
    const struct form *f = form_of(k->type);
    struct out o = {ret};

    record_put(&o, k->type, 1);
    if (f->inode)
        record_put_inode(&o, k->mount, k->inode);
    record_put(&o, k->index, f->index);
    if (f->has_name) {
        memcpy(o.at, k->name, k->name_len);
        o.at += k->name_len;
    }
    return (size_t)(o.at - ret);
}

/* A name that a directory could contain. Rejecting "..", slashes and NULs here
 * means that no later code can be led out of a directory by a record. */
static bool
record_is_name(const char *s, size_t len)
{
    bool is_dots = (len == 1 || len == 2) && !memcmp(s, "..", len);

    return len && len <= 255 && !is_dots && !memchr(s, 0, len) &&
           !memchr(s, '/', len);
}

/* The key is only passed to the caller if every part of it is valid, so users
 * of record_key need no further checks. */
int
record_key_get(const void *key, size_t len, struct record_key *ret)
{
    const uint8_t *start = key;
    const struct form *f = len ? form_of(*start) : NULL;

    if (!f)
        return -EINVAL;
    size_t numbers = 1u + f->inode + f->index;
    if (f->has_name ? len < numbers : len != numbers)
        return -EINVAL;
    struct record_key k = {.type = *start};
    struct in i = {start + 1};
    if (f->inode)
        record_get_inode(&i, &k.mount, &k.inode);
    if (f->inode && !k.inode)
        return -EINVAL;
    k.index = record_get(&i, f->index);
    if (f->index && (k.index < f->index_min || k.index >= f->index_end))
        return -EINVAL;
    k.name = (const char *)i.at;
    k.name_len = len - numbers;
    if (f->has_name && !record_is_name(k.name, k.name_len))
        return -EINVAL;
    *ret = k;
    return 0;
}

/* --- values */

#define FILE_CLOSED UINT64_C(0x80000000)
enum { INODE_BYTES = 44, NAME_BYTES = 16, FILE_BYTES = 24, SHELL_BYTES = 28 };
enum { FD_MIN = 3 }; /* lower ones are of each command */

size_t
record_inode_put(const struct record_inode *r, uint8_t ret[RECORD_FIXED_MAX])
{
    struct out o = {ret};

    record_put(&o, r->mode, 4);
    record_put(&o, r->uid, 4);
    record_put(&o, r->gid, 4);
    record_put(&o, r->size, 8);
    record_put(&o, (uint64_t)r->atime_ns, 8);
    record_put(&o, (uint64_t)r->mtime_ns, 8);
    record_put(&o, (uint64_t)r->ctime_ns, 8);
    return INODE_BYTES;
}

/* Returns the range of sizes that inodes of a kind can have. Returns false for
 * devices and unknown kinds, which no record describes. */
static bool
record_sizes_of(uint32_t mode, uint64_t *ret_min, uint64_t *ret_max)
{
    static const struct {
        uint32_t kind;
        uint64_t min, max;
    } kinds[] = {
        {S_IFREG, 0, RECORD_BYTES_MAX},
        {S_IFDIR, 0, 0},
        {S_IFLNK, 1, RECORD_LINK_MAX},
        {S_IFIFO, 0, 0},
        {S_IFSOCK, 0, 0},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if ((mode & ~07777u) != kinds[i].kind)
            continue;
        *ret_min = kinds[i].min;
        *ret_max = kinds[i].max;
        return true;
    }
    return false;
}

int
record_inode_get(const void *value, size_t len, struct record_inode *ret)
{
    struct in i = {value};
    uint64_t min, max;

    if (len != INODE_BYTES)
        return -EINVAL;
    struct record_inode r = {.mode = (uint32_t)record_get(&i, 4)};
    r.uid = (uint32_t)record_get(&i, 4);
    r.gid = (uint32_t)record_get(&i, 4);
    r.size = record_get(&i, 8);
    r.atime_ns = (int64_t)record_get(&i, 8);
    r.mtime_ns = (int64_t)record_get(&i, 8);
    r.ctime_ns = (int64_t)record_get(&i, 8);
    if (!record_sizes_of(r.mode, &min, &max) || r.size < min || r.size > max)
        return -EINVAL;
    *ret = r;
    return 0;
}

/* An empty value means that the image's name is removed. */
size_t
record_name_put(const struct record_name *r, uint8_t ret[RECORD_FIXED_MAX])
{
    struct out o = {ret};

    if (!r->inode)
        return 0;
    record_put(&o, r->inode, 8);
    record_put(&o, r->seq, 8);
    return NAME_BYTES;
}

int
record_name_get(const void *value, size_t len, struct record_name *ret)
{
    struct in i = {value};
    struct record_name r = {0};

    if (len && len != NAME_BYTES)
        return -EINVAL;
    if (len) {
        r.inode = record_get(&i, 8);
        r.seq = record_get(&i, 8);
        if (!r.inode || r.inode >= RECORD_INODE_MAX ||
            r.seq >= RECORD_INODE_MAX)
            return -EINVAL;
    }
    *ret = r;
    return 0;
}

size_t
record_place_put(const struct record_place *r, uint8_t ret[RECORD_PLACE_BYTES])
{
    struct out o = {ret};

    record_put(&o, r->dir, 8);
    memcpy(o.at, r->name, r->name_len);
    return 8 + r->name_len;
}

int
record_place_get(const void *value, size_t len, struct record_place *ret)
{
    struct in i = {value};

    struct record_place r = {0};
    if (!len) {
        *ret = r;
        return 0;
    }
    if (len < 8)
        return -EINVAL;
    r.dir = record_get(&i, 8);
    r.name = (const char *)i.at;
    r.name_len = len - 8;
    if (!r.dir || r.dir >= RECORD_INODE_MAX ||
        !record_is_name(r.name, r.name_len))
        return -EINVAL;
    *ret = r;
    return 0;
}

/* The close-on-exec flag shares a word with same_as, as its lowest bit. */
size_t
record_file_put(const struct record_file *r, uint8_t ret[RECORD_FIXED_MAX])
{
    struct out o = {ret};

    record_put(&o, r->flags, 4);
    record_put(
        &o, r->same_as << 1 | r->cloexec | (r->is_closed ? FILE_CLOSED : 0), 4);
    record_put_inode(&o, r->mount, r->inode);
    record_put(&o, r->pos, 8);
    return FILE_BYTES;
}

int
record_file_get(const void *value, size_t len, struct record_file *ret)
{
    struct in i = {value};

    if (len != FILE_BYTES)
        return -EINVAL;
    struct record_file r = {.flags = (uint32_t)record_get(&i, 4)};
    uint64_t word = record_get(&i, 4);
    r.cloexec = word & 1;
    r.same_as = (uint32_t)((word & ~FILE_CLOSED) >> 1);
    r.is_closed = word & FILE_CLOSED;
    record_get_inode(&i, &r.mount, &r.inode);
    r.pos = record_get(&i, 8);
    if (r.pos > INT64_MAX)
        return -EINVAL;
    *ret = r;
    return 0;
}

size_t
record_shell_put(const struct record_shell *r, uint8_t ret[RECORD_FIXED_MAX])
{
    struct out o = {ret};

    record_put(&o, r->status, 4);
    record_put(&o, r->has_env | r->cwd_is_removed << 1, 4);
    record_put(&o, r->memory_bytes, 8);
    record_put(&o, r->cwd_mount, 4);
    record_put(&o, r->cwd, 8);
    return SHELL_BYTES;
}

int
record_shell_get(const void *value, size_t len, struct record_shell *ret)
{
    const uint64_t wasm_page = 65536;
    struct in i = {value};

    if (len != SHELL_BYTES)
        return -EINVAL;
    struct record_shell r = {.status = (uint32_t)record_get(&i, 4)};
    uint64_t word = record_get(&i, 4);
    r.has_env = word & 1;
    r.cwd_is_removed = word & 2;
    r.memory_bytes = record_get(&i, 8);
    r.cwd_mount = (uint32_t)record_get(&i, 4);
    r.cwd = record_get(&i, 8);
    if (r.status > 255 || word > 3 || r.memory_bytes % wasm_page ||
        r.memory_bytes > UINT32_MAX || (!r.cwd && !r.cwd_is_removed) ||
        r.cwd >= RECORD_INODE_MAX)
        return -EINVAL;
    *ret = r;
    return 0;
}

size_t
record_attr_put(const struct record_attr *a, uint8_t *ret)
{
    struct out o = {ret};

    record_put(&o, a->name_len, 1);
    record_put(&o, a->value_len, 2);
    memcpy(o.at, a->name, a->name_len);
    if (a->value_len)
        memcpy(o.at + a->name_len, a->value, a->value_len);
    return RECORD_ATTR_HEAD + a->name_len + a->value_len;
}

int
record_attr_get(const uint8_t *bytes, size_t len, size_t *at,
                struct record_attr *ret)
{
    size_t left = len - *at;

    if (!left)
        return 0;
    if (left < RECORD_ATTR_HEAD)
        return -EINVAL;
    struct in i = {bytes + *at};
    struct record_attr a = {.name_len = (size_t)record_get(&i, 1)};
    a.value_len = (size_t)record_get(&i, 2);
    size_t size = RECORD_ATTR_HEAD + a.name_len + a.value_len;
    a.name = (const char *)i.at;
    a.value = i.at + a.name_len;
    if (size > left || !a.name_len || memchr(a.name, 0, a.name_len))
        return -EINVAL;
    *at += size;
    *ret = a;
    return 1;
}

/* --- records */

/* A row of RECORD_FACTS. */
struct fact {
    const char *name;
    size_t min, max;
    bool is_shells;
};

static const struct fact facts[FACT_COUNT] = {
#define F(NAME, MIN, MAX, IS_SHELLS) {#NAME, MIN, MAX, IS_SHELLS},
    RECORD_FACTS(F)
#undef F
};

struct record_key
record_fact_key(enum record_fact f)
{
    const char *name = facts[f].name;

    return (struct record_key){
        .type = RECORD_FACT, .name = name, .name_len = strlen(name)};
}

enum record_fact
record_fact_of(const struct record_key *k)
{
    enum record_fact f = FACT_version;

    if (k->type != RECORD_FACT)
        return FACT_COUNT;
    while (f < FACT_COUNT && (strlen(facts[f].name) != k->name_len ||
                              memcmp(facts[f].name, k->name, k->name_len) != 0))
        f++;
    return f;
}

bool
record_is_shells(enum record_fact f)
{
    return facts[f].is_shells;
}

static int
record_check_fact(const struct record_key *k, const void *value, size_t len)
{
    enum record_fact f = record_fact_of(k);
    struct record_shell shell;

    if (f == FACT_COUNT || len < facts[f].min || len > facts[f].max)
        return -EINVAL;
    return f == FACT_shell ? record_shell_get(value, len, &shell) : 0;
}

/* A file that shares its description names a lower descriptor. Descriptors are
 * restored in ascending order, so the lower one is there by then. */
static int
record_check_file(const struct record_key *k, const void *value, size_t len)
{
    struct record_file f;

    int r = record_file_get(value, len, &f);
    return r == 0 && f.same_as && (f.same_as < FD_MIN || f.same_as >= k->index)
               ? -EINVAL
               : r;
}

/* Commands are C strings in the library's interface, hence without a NUL. */
static int
record_check_command(const struct record_key *k, const void *value, size_t len)
{
    (void)k;
    return len >= RECORD_COMMAND_MAX || memchr(value, 0, len) ? -EINVAL : 0;
}

static int
record_check_inode(const struct record_key *k, const void *value, size_t len)
{
    struct record_inode r;

    (void)k;
    return record_inode_get(value, len, &r);
}

static int
record_check_name(const struct record_key *k, const void *value, size_t len)
{
    struct record_name r;

    (void)k;
    return record_name_get(value, len, &r);
}

static int
record_check_attrs(const struct record_key *k, const void *value, size_t len)
{
    struct record_attr a;
    size_t at = 0;
    int r = len > RECORD_ATTRS_MAX ? -EINVAL : 1;

    (void)k;
    while (r > 0)
        r = record_attr_get(value, len, &at, &a);
    return r;
}

static int
record_check_place(const struct record_key *k, const void *value, size_t len)
{
    struct record_place r;

    (void)k;
    return record_place_get(value, len, &r);
}

static int
record_check_page(const struct record_key *k, const void *value, size_t len)
{
    (void)k;
    (void)value;
    return len > RECORD_PAGE_BYTES ? -EINVAL : 0;
}

static int
record_check_block(const struct record_key *k, const void *value, size_t len)
{
    (void)k;
    (void)value;
    return len > RECORD_BLOCK_BYTES ? -EINVAL : 0;
}

/* Returns the form of a type, or NULL for an unknown one. The table is indexed
 * by the character of the type; unused rows have no `check`. */
static const struct form *
form_of(unsigned type)
{
    static const struct form forms[] = {
        [RECORD_FACT] = {.has_name = true, .check = record_check_fact},
        [RECORD_FILE] = {.index = 4,
                         .index_min = FD_MIN,
                         .index_end = RECORD_FD_MAX,
                         .check = record_check_file},
        [RECORD_COMMAND] = {.index = 8,
                            .index_end = RECORD_INODE_MAX,
                            .check = record_check_command},
        [RECORD_INODE] = {.inode = 8, .check = record_check_inode},
        [RECORD_NAME] = {.inode = 8,
                         .has_name = true,
                         .check = record_check_name},
        [RECORD_PAGE] = {.index = 4,
                         .index_end = RECORD_PAGE_MAX,
                         .check = record_check_page},
        [RECORD_ATTRS] = {.inode = 8, .check = record_check_attrs},
        [RECORD_PLACE] = {.inode = 8, .check = record_check_place},
        [RECORD_BLOCK] = {.inode = 8,
                          .index = 8,
                          .index_end = RECORD_BYTES_MAX / RECORD_BLOCK_BYTES,
                          .check = record_check_block},
    };

    return type < sizeof forms / sizeof *forms && forms[type].check
               ? &forms[type]
               : NULL;
}

/* A record that is removed has no value to check. Only its key counts, and a
 * fact must be a known one. */
int
record_check(const void *key, size_t key_len, const void *value, size_t len)
{
    struct record_key k;

    int r = record_key_get(key, key_len, &k);
    if (r != 0)
        return r;
    if (value)
        return form_of(k.type)->check(&k, value, len);
    return k.type == RECORD_FACT && record_fact_of(&k) == FACT_COUNT ? -EINVAL
                                                                     : 0;
}

int
record_send(const struct record_sink *to, const struct record_key *k,
            const void *value, size_t len)
{
    uint8_t key[RECORD_KEY_MAX];

    return to->put(to->arg, key, record_key_put(k, key), value, len);
}
