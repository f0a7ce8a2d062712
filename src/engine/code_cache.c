/* Compiled code on disk: one file for each program and engine.
 *
 * An entry is native code that we would run, so it is used only if the folder
 * and the file belong to us and nobody else can write there. It is written to a
 * temporary file and renamed, and ends with the properties of the program and a
 * mark, which reveals a truncated file. It is mapped, so that all processes
 * share its pages.
 *
 * An entry is named after the content of the program. Finding it by content
 * needs a hash over the whole program, which takes milliseconds. It therefore
 * has further names (hard links) after the places where the program was found:
 * file, offset and length. These are found without reading the program.
 *
 * A second folder has entries that came with the programs. It is only read, and
 * may belong to root, who can write to ours too. */
#include "engine/code_cache.h"

#include "base/hfd.h"
#include "engine/engine_impl.h"
#include "engine/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES (1 << 30) /* at most that many in a call */

static const char mark[8] = "wsandend";

/* The end of an entry: code, custom section, tail. */
struct code_tail {
    uint64_t code_len, section_len, source_len;
    uint8_t hash[BLAKE2B_BYTES]; /* of the source */
    uint64_t flags;
    char mark[8];
};
enum { HAS_START = 1, HAS_SECTION = 2 };

/* hex digits and ".code"; of one aside, also a process and a thread */
struct entry_name {
    char s[2 * BLAKE2B_BYTES + 64];
};

/* The users whose files are trusted. A user namespace shows files of users that
 * it does not know as those of nobody; their owner was checked outside. */
enum owner { OWNER_US, OWNER_US_OR_ROOT, OWNER_CHECKED };

static bool
code_cache_is_trusted(uid_t uid, enum owner owner)
{
    return uid == geteuid() || owner == OWNER_CHECKED ||
           (owner == OWNER_US_OR_ROOT && uid == 0);
}

/* The owner and the mode are those of the open file, not of its name, so nobody
 * can exchange it between the check and its use. Others must not be able to
 * write; for our own folder, not even to read. */
static bool
code_cache_is_private(int hfd, mode_t type, mode_t others, enum owner owner,
                      off_t *ret_len)
{
    struct stat st;

    if (fstat(hfd, &st) < 0 || (st.st_mode & S_IFMT) != type ||
        !code_cache_is_trusted(st.st_uid, owner) || st.st_mode & others)
        return false;
    *ret_len = st.st_size;
    return true;
}

static int
code_cache_open_folder(const char *dir, mode_t others, enum owner owner)
{
    off_t len;
    int hfd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (hfd < 0)
        return -errno;
    if (!code_cache_is_private(hfd, S_IFDIR, others, owner, &len)) {
        close(hfd);
        return -EPERM;
    }
    return hfd;
}

int
code_cache_open(const char *dir)
{
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return -errno;
    return code_cache_open_folder(dir, 077, OWNER_US);
}

int
code_cache_open_shipped(const char *dir, bool is_checked)
{
    return code_cache_open_folder(
        dir, 022, is_checked ? OWNER_CHECKED : OWNER_US_OR_ROOT);
}

/* --- names */

/* Ends the hash with the settings of the engine, so that an engine with other
 * settings never finds the entry. The name is the hash in hexadecimal. */
static struct entry_name
name_of(const struct engine *e, struct blake2b *b)
{
    uint8_t key[BLAKE2B_BYTES];
    struct entry_name n;

    blake2b_add(b, e->settings, strlen(e->settings));
    blake2b_end(b, key);
    for (size_t i = 0; i < sizeof key; i++)
        (void)snprintf(n.s + 2 * i, 3, "%02x", key[i]);
    (void)snprintf(n.s + 2 * sizeof key, 8, ".code");
    return n;
}

static struct entry_name
name_of_content(const struct engine *e, const uint8_t *hash)
{
    struct blake2b b;

    blake2b_init(&b);
    blake2b_add(&b, hash, BLAKE2B_BYTES);
    return name_of(e, &b);
}

/* Returns false if the source is not in a file that can be identified. */
static bool
name_of_source(const struct engine *e, const struct program_source *src,
               struct entry_name *ret)
{
    const struct host_file *f = src->file;
    struct blake2b b;

    if (!f || !f->is_settled || src->bytes < f->bytes ||
        src->bytes > f->bytes + f->len ||
        src->len > (size_t)(f->bytes + f->len - src->bytes))
        return false;
    uint64_t range[] = {(uint64_t)(src->bytes - f->bytes), src->len};
    blake2b_init(&b);
    blake2b_add(&b, f->identity, sizeof f->identity);
    blake2b_add(&b, range, sizeof range);
    *ret = name_of(e, &b);
    return true;
}

/* Returns a name for a temporary file, unique among processes and threads. */
static struct entry_name
name_aside(const struct entry_name *n)
{
    struct entry_name aside = *n;
    size_t len = strlen(n->s);

    (void)snprintf(aside.s + len, sizeof aside.s - len, ".%ld.%lx",
                   (long)getpid(), (unsigned long)pthread_self());
    return aside;
}

/* --- finding */

/* Reads the properties at the end of an entry of `len` bytes. A file that was
 * cut has no mark there, or lengths that do not add up. */
static int
code_cache_read_facts(int hfd, off_t len, struct program_facts *ret)
{
    struct code_tail tail;
    off_t at = len - (off_t)sizeof tail;

    if (at < 0 || pread(hfd, &tail, sizeof tail, at) != sizeof tail ||
        memcmp(tail.mark, mark, sizeof mark) != 0 ||
        tail.section_len > (uint64_t)at ||
        tail.code_len != (uint64_t)at - tail.section_len)
        return -EINVAL;
    *ret = (struct program_facts){.bytes = tail.source_len,
                                  .has_start = tail.flags & HAS_START,
                                  .section_len = tail.section_len};
    memcpy(ret->hash, tail.hash, sizeof ret->hash);
    if (!(tail.flags & HAS_SECTION))
        return 0;
    ret->section = malloc(tail.section_len + 1);
    if (ret->section &&
        pread(hfd, ret->section, tail.section_len, (off_t)tail.code_len) ==
            (ssize_t)tail.section_len)
        return 0;
    program_facts_fini(ret);
    return -EINVAL;
}

static int
code_cache_open_entry(const struct engine *e, bool is_shipped,
                      const struct entry_name *n, struct program_facts *ret)
{
    off_t len;
    int dir_hfd = is_shipped ? e->shipped_hfd : e->cache_hfd;
    int hfd = dir_hfd < 0
                  ? -1
                  : openat(dir_hfd, n->s,
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (hfd < 0)
        return -ENOENT;
    enum owner owner = !is_shipped             ? OWNER_US
                       : e->shipped_is_checked ? OWNER_CHECKED
                                               : OWNER_US_OR_ROOT;
    if (code_cache_is_private(hfd, S_IFREG, 022, owner, &len) &&
        code_cache_read_facts(hfd, len, ret) == 0)
        return hfd;
    close(hfd);
    return -EINVAL;
}

/* The name is a hash of the content and the settings; the tail has that of the
 * content alone. An entry under a wrong name is refused. */
static int
code_cache_find_content(const struct engine *e, bool is_shipped,
                        const uint8_t *hash, struct program_facts *ret)
{
    struct entry_name n = name_of_content(e, hash);
    int hfd = code_cache_open_entry(e, is_shipped, &n, ret);

    if (hfd < 0 || !memcmp(ret->hash, hash, sizeof ret->hash))
        return hfd;
    program_facts_fini(ret);
    close(hfd);
    return -EINVAL;
}

int
code_cache_find(struct engine *e, const uint8_t *hash,
                struct program_facts *ret)
{
    int hfd = code_cache_find_content(e, false, hash, ret);

    return hfd < 0 ? code_cache_find_content(e, true, hash, ret) : hfd;
}

int
code_cache_find_source(struct engine *e, const struct program_source *src,
                       struct program_facts *ret)
{
    struct entry_name n;

    if (!name_of_source(e, src, &n))
        return -ENOENT;
    return code_cache_open_entry(e, false, &n, ret);
}

OWN wasmtime_module_t *
code_cache_load(struct engine *e, int hfd)
{
    wasmtime_module_t *module = NULL;
    char path[40];

    /* The file that was checked, whatever has the name now. */
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", hfd);
    wasmtime_error_t *error =
        wasmtime_module_deserialize_file(e->wasm, path, &module);
    if (!error)
        return module;
    wasmtime_error_delete(error);
    return NULL;
}

/* --- adding */

static int
code_cache_write_entry(int dir_hfd, const struct entry_name *n,
                       const struct program_facts *f, const void *code,
                       size_t len)
{
    struct code_tail tail = {.code_len = len,
                             .section_len = f->section_len,
                             .source_len = f->bytes,
                             .flags = (f->has_start ? HAS_START : 0) |
                                      (f->section ? HAS_SECTION : 0)};
    CLEANUP(hfd_closep)
    int hfd =
        openat(dir_hfd, n->s,
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (hfd < 0)
        return -errno;
    memcpy(tail.hash, f->hash, sizeof tail.hash);
    memcpy(tail.mark, mark, sizeof mark);
    int r = hfd_write_all(hfd, code, len);
    if (r == 0)
        r = hfd_write_all(hfd, f->section, f->section_len);
    return r < 0 ? r : hfd_write_all(hfd, &tail, sizeof tail);
}

/* Gives the temporary file its name, if it could be made. rename(2) does
 * nothing if both names are links to one file already, hence the unlink. */
static void
code_cache_install(const struct engine *e, int made,
                   const struct entry_name *aside, const struct entry_name *n)
{
    if (made == 0)
        (void)renameat(e->cache_hfd, aside->s, e->cache_hfd, n->s);
    (void)unlinkat(e->cache_hfd, aside->s, 0);
}

void
code_cache_add(struct engine *e, const struct program_facts *f,
               const void *code, size_t len)
{
    struct entry_name n = name_of_content(e, f->hash), aside = name_aside(&n);

    if (e->cache_hfd < 0)
        return;
    int r = code_cache_write_entry(e->cache_hfd, &aside, f, code, len);
    code_cache_install(e, r, &aside, &n);
}

/* A link to an entry of the shipped folder works only on the same file system,
 * and only if the host lets us link a file of root. Otherwise the program is
 * hashed again by the next process. */
void
code_cache_add_source(struct engine *e, const struct program_source *src,
                      const uint8_t *hash)
{
    struct entry_name content = name_of_content(e, hash), n;

    if (e->cache_hfd < 0 || !name_of_source(e, src, &n))
        return;
    struct entry_name aside = name_aside(&n);
    int r = linkat(e->cache_hfd, content.s, e->cache_hfd, aside.s, 0);
    if (r < 0)
        r = linkat(e->shipped_hfd, content.s, e->cache_hfd, aside.s, 0);
    code_cache_install(e, r, &aside, &n);
}

/* --- shipping */

/* An entry that exists stays: it has the same content, by its name. */
static int
code_cache_copy_entry(int from_hfd, int dir_hfd, const struct entry_name *n)
{
    CLEANUP(hfd_closep)
    int hfd =
        openat(dir_hfd, n->s,
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    ssize_t r;

    if (hfd < 0)
        return errno == EEXIST ? 0 : -errno;
    do
        r = sendfile(hfd, from_hfd, NULL, COPY_BYTES);
    while (r > 0);
    return r < 0 ? -errno : 0;
}

int
engine_ship(struct engine *e, const struct program_source *src, int dir_hfd)
{
    uint8_t hash[BLAKE2B_BYTES];
    struct program_facts facts;

    blake2b_hash(src->bytes, src->len, hash);
    CLEANUP(hfd_closep) int hfd = code_cache_find(e, hash, &facts);
    if (hfd < 0)
        return -ENOENT;
    program_facts_fini(&facts);
    struct entry_name n = name_of_content(e, hash);
    return code_cache_copy_entry(hfd, dir_hfd, &n);
}
