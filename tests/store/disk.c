/* A disk for SQLite that can lose its power and fail. */
#include "disk.h"

#include "../unit/test.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES = 32, SECTOR = 512 };

struct bytes {
    uint8_t *p;
    size_t len, cap;
};

/* A name, what was written, what was synced, and a byte for each sector that
 * the next sync writes. One that fails writes nothing and forgets them, as
 * Linux does. */
struct node {
    char name[96];
    bool is_there, was_there;
    bool is_new; /* since the last sync: what was synced is another file's */
    struct bytes now, synced, dirty;
};

struct handle {
    sqlite3_file base;
    struct node *node;
};

static struct {
    sqlite3_vfs vfs;
    struct node nodes[FILES], snap[FILES];
    uint32_t random;
    _Atomic long calls, syncs, fail_in;
    long snap_in;
    int result;
    bool stays, reads, has_failed, has_snap;
    char beside[96];
    _Atomic size_t size; /* 0: no bound */
} disk;

static void
resize(struct bytes *b, size_t len)
{
    if (len > b->cap || !b->p) {
        b->cap = 2 * len + 1;
        b->p = realloc(b->p, b->cap);
        if (!b->p)
            abort();
    }
    if (len > b->len)
        memset(b->p + b->len, 0, len - b->len);
    b->len = len;
}

static void
copy(struct bytes *to, const struct bytes *from)
{
    resize(to, from->len);
    if (from->len)
        memcpy(to->p, from->p, from->len);
}

static void
drop(struct node *n)
{
    free(n->now.p);
    free(n->synced.p);
    free(n->dirty.p);
    *n = (struct node){0};
}

static void
copy_node(struct node *to, const struct node *from)
{
    memcpy(to->name, from->name, sizeof to->name);
    to->is_there = from->is_there;
    to->was_there = from->was_there;
    to->is_new = from->is_new;
    copy(&to->now, &from->now);
    copy(&to->synced, &from->synced);
    copy(&to->dirty, &from->dirty);
}

static struct node *
find(const char *name, bool create)
{
    struct node *empty = NULL;

    for (int i = 0; i < FILES; i++) {
        struct node *n = &disk.nodes[i];
        if (!strcmp(n->name, name))
            return n;
        if (!*n->name && !empty)
            empty = n;
    }
    if (!create)
        return NULL;
    CHECK(empty);
    (void)snprintf(empty->name, sizeof empty->name, "%s", name);
    return empty;
}

enum call { READ, WRITE, SYNC };

static bool
can_fail(enum call call)
{
    if (disk.result == SQLITE_IOERR_FSYNC)
        return call == SYNC;
    return call != READ || disk.reads;
}

/* Something is about to happen: a result of SQLite. */
static int
happen(enum call call)
{
    if (call != READ && disk.snap_in && !--disk.snap_in) {
        for (int i = 0; i < FILES; i++)
            copy_node(&disk.snap[i], &disk.nodes[i]);
        disk.has_snap = true;
    }
    disk.calls += call != READ;
    if (!disk.fail_in || !can_fail(call))
        return SQLITE_OK;
    if (disk.fail_in > 1) {
        disk.fail_in--;
        return SQLITE_OK;
    }
    disk.fail_in = disk.stays;
    disk.has_failed = true;
    return disk.result;
}

/* --- its size */

int __real_posix_fallocate(int hfd, off_t at, off_t len);
int __wrap_posix_fallocate(int hfd, off_t at, off_t len);

static size_t
used_here(void)
{
    size_t n = 0;

    for (int i = 0; i < FILES; i++)
        n += disk.nodes[i].is_there ? disk.nodes[i].now.len : 0;
    return n;
}

size_t
disk_used(void)
{
    struct stat st = {0};

    (void)stat(disk.beside, &st);
    return used_here() + (size_t)st.st_size;
}

/* For the file beside. */
int
__wrap_posix_fallocate(int hfd, off_t at, off_t len)
{
    if (disk.size && used_here() + (size_t)(at + len) > disk.size)
        return ENOSPC;
    return __real_posix_fallocate(hfd, at, len);
}

void
disk_set_size(size_t bytes, const char *beside)
{
    (void)snprintf(disk.beside, sizeof disk.beside, "%s", beside);
    disk.size = bytes;
}

/* --- files */

static struct node *
node_of(sqlite3_file *f)
{
    return ((struct handle *)f)->node;
}

static int
file_close(sqlite3_file *f)
{
    f->pMethods = NULL;
    return SQLITE_OK;
}

static int
file_read(sqlite3_file *f, void *p, int len, sqlite3_int64 at)
{
    const struct bytes *b = &node_of(f)->now;
    size_t n = (size_t)len, from = (size_t)at;
    int r = happen(READ);

    if (r)
        return SQLITE_IOERR_READ;
    size_t has = from >= b->len ? 0 : b->len - from < n ? b->len - from : n;
    if (has)
        memcpy(p, b->p + from, has);
    memset((uint8_t *)p + has, 0, n - has);
    return has < n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static void
mark(struct node *n, size_t at, size_t len)
{
    size_t end = (at + len + SECTOR - 1) / SECTOR;

    if (end > n->dirty.len)
        resize(&n->dirty, end);
    memset(n->dirty.p + at / SECTOR, 1, end - at / SECTOR);
}

static void
write_back(struct node *n)
{
    if (n->is_new)
        resize(&n->synced, 0);
    n->is_new = false;
    resize(&n->synced, n->now.len);
    for (size_t i = 0; i < n->dirty.len && i * SECTOR < n->now.len; i++) {
        size_t left = n->now.len - i * SECTOR;
        if (n->dirty.p[i])
            memcpy(n->synced.p + i * SECTOR, n->now.p + i * SECTOR,
                   left < SECTOR ? left : SECTOR);
    }
}

static int
file_write(sqlite3_file *f, const void *p, int len, sqlite3_int64 at)
{
    struct bytes *b = &node_of(f)->now;
    int r = happen(WRITE);

    if (r)
        return r == SQLITE_IOERR ? SQLITE_IOERR_WRITE : r;
    if ((size_t)(at + len) > b->len) {
        if (disk.size && disk_used() - b->len + (size_t)(at + len) > disk.size)
            return SQLITE_FULL;
        resize(b, (size_t)(at + len));
    }
    memcpy(b->p + at, p, (size_t)len);
    mark(node_of(f), (size_t)at, (size_t)len);
    return SQLITE_OK;
}

static int
file_truncate(sqlite3_file *f, sqlite3_int64 len)
{
    int r = happen(WRITE);

    if (r)
        return SQLITE_IOERR_TRUNCATE;
    resize(&node_of(f)->now, (size_t)len);
    return SQLITE_OK;
}

static int
file_sync(sqlite3_file *f, int flags)
{
    struct node *n = node_of(f);
    int r = happen(SYNC);

    (void)flags;
    if (!r)
        write_back(n);
    resize(&n->dirty, 0);
    if (r)
        return SQLITE_IOERR_FSYNC;
    disk.syncs++;
    n->was_there = n->is_there;
    return SQLITE_OK;
}

static int
file_size(sqlite3_file *f, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)node_of(f)->now.len;
    return SQLITE_OK;
}

static int
file_lock(sqlite3_file *f, int lock)
{
    (void)f;
    (void)lock;
    return SQLITE_OK;
}

static int
file_is_reserved(sqlite3_file *f, int *ret)
{
    (void)f;
    *ret = 0;
    return SQLITE_OK;
}

static int
file_control(sqlite3_file *f, int op, void *arg)
{
    (void)f;
    (void)op;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int
file_sector(sqlite3_file *f)
{
    (void)f;
    return SECTOR;
}

static int
file_traits(sqlite3_file *f)
{
    (void)f;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
};

/* --- the file system */

static int
vfs_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags,
         int *ret_flags)
{
    struct node *n = find(name ? name : "unnamed", flags & SQLITE_OPEN_CREATE);

    (void)v;
    f->pMethods = NULL;
    if (!n || (!n->is_there && !(flags & SQLITE_OPEN_CREATE)))
        return SQLITE_CANTOPEN;
    if (!n->is_there) {
        resize(&n->now, 0);
        n->is_new = true;
    }
    n->is_there = true;
    ((struct handle *)f)->node = n;
    f->pMethods = &methods;
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int
vfs_delete(sqlite3_vfs *v, const char *name, int sync)
{
    struct node *n = find(name, false);
    int r = happen(WRITE);

    (void)v;
    if (r)
        return SQLITE_IOERR_DELETE;
    if (!n || !n->is_there)
        return SQLITE_IOERR_DELETE_NOENT;
    n->is_there = false;
    n->was_there &= !sync;
    return SQLITE_OK;
}

static int
vfs_access(sqlite3_vfs *v, const char *name, int flags, int *ret)
{
    const struct node *n = find(name, false);

    (void)v;
    (void)flags;
    *ret = n && n->is_there;
    return SQLITE_OK;
}

static int
vfs_full_path(sqlite3_vfs *v, const char *name, int size, char *ret)
{
    (void)v;
    (void)snprintf(ret, (size_t)size, "%s", name);
    return SQLITE_OK;
}

static int
vfs_random(sqlite3_vfs *v, int n, char *ret)
{
    (void)v;
    for (int i = 0; i < n; i++)
        ret[i] = (char)next_random(&disk.random);
    return n;
}

static int
vfs_sleep(sqlite3_vfs *v, int us)
{
    (void)v;
    return us;
}

static int
vfs_time(sqlite3_vfs *v, double *ret)
{
    (void)v;
    *ret = 2460000;
    return SQLITE_OK;
}

static int
vfs_last_error(sqlite3_vfs *v, int n, char *ret)
{
    (void)v;
    (void)n;
    (void)ret;
    return 0;
}

void
disk_init(uint32_t seed)
{
    memset(&disk, 0, sizeof disk);
    disk.random = seed;
    disk.vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(struct handle),
        .mxPathname = 90,
        .zName = DISK_VFS,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_random,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
    };
    CHECK_EQ(sqlite3_vfs_register(&disk.vfs, 0), SQLITE_OK);
}

void
disk_fini(void)
{
    sqlite3_vfs_unregister(&disk.vfs);
    for (int i = 0; i < FILES; i++) {
        drop(&disk.nodes[i]);
        drop(&disk.snap[i]);
    }
}

/* --- failures */

long
disk_calls(void)
{
    return disk.calls;
}

long
disk_syncs(void)
{
    return disk.syncs;
}

void
disk_fail_at(long nth, int result, bool stays, bool reads)
{
    disk.fail_in = nth;
    disk.result = result;
    disk.stays = stays;
    disk.reads = reads;
    disk.has_failed = false;
}

bool
disk_has_failed(void)
{
    return disk.has_failed;
}

void
disk_snap_at(long nth)
{
    disk.snap_in = nth;
    disk.has_snap = false;
}

bool
disk_has_snap(void)
{
    return disk.has_snap;
}

/* Each sector that differs is the one or the other. */
static void
tear(struct node *n)
{
    size_t len = next_random(&disk.random) & 1 ? n->now.len : n->synced.len;

    resize(&n->now, len);
    for (size_t at = 0; at < len; at += SECTOR) {
        size_t end = at + SECTOR < len ? at + SECTOR : len;
        if (next_random(&disk.random) & 1)
            continue;
        memset(n->now.p + at, 0, end - at);
        if (at >= n->synced.len)
            continue;
        if (end > n->synced.len)
            end = n->synced.len;
        memcpy(n->now.p + at, n->synced.p + at, end - at);
    }
    copy(&n->synced, &n->now);
}

static void
lose(struct node *n, bool is_torn)
{
    n->is_there = n->was_there;
    if (is_torn && n->is_there)
        tear(n);
    copy(&n->now, &n->synced);
    resize(&n->dirty, 0);
}

void
disk_from_snap(const char *dir, const char *to_dir, bool is_torn)
{
    char name[96];

    for (int i = 0; i < FILES; i++) {
        struct node *from = &disk.snap[i];
        size_t len = strlen(dir);
        if (strncmp(from->name, dir, len) != 0 || from->name[len] != '/')
            continue;
        (void)snprintf(name, sizeof name, "%s%s", to_dir, from->name + len);
        struct node *to = find(name, true);
        copy_node(to, from);
        memcpy(to->name, name, sizeof name);
        lose(to, is_torn);
    }
}

void
disk_lose_power(bool is_torn)
{
    for (int i = 0; i < FILES; i++)
        lose(&disk.nodes[i], is_torn);
}

void
disk_remove(const char *path)
{
    struct node *n = find(path, false);

    CHECK(n);
    if (n)
        drop(n);
}

bool
disk_damage(const char *path, const void *bytes, unsigned len)
{
    struct node *n = find(path, false);
    uint8_t *at = n ? memmem(n->now.p, n->now.len, bytes, len) : NULL;

    if (!at)
        return false;
    at[len / 2] ^= 1;
    copy(&n->synced, &n->now);
    return true;
}
