/* Compiled code on disk: one file for each program and engine.
 *
 * An entry is native code that we would run, so it is used only if the folder
 * and the file belong to us and nobody else can write there. It is written
 * aside and renamed, and ends with a mark by which a file cut short is
 * noticed. It is mapped, so all processes share its pages. */
#include "engine/engine_impl.h"

#include "base/hfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark[8] = "wsandend";

struct tail {
    char mark[8];
    uint64_t len; /* of the code before it */
};

#define NAME_SIZE (2 * BLAKE2B_BYTES + 8)

static bool
is_private(int hfd, mode_t type, mode_t others)
{
    struct stat st;

    return !fstat(hfd, &st) && (st.st_mode & S_IFMT) == type &&
           st.st_uid == geteuid() && !(st.st_mode & others);
}

int
code_cache_open(const char *dir)
{
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return -errno;
    int hfd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (hfd < 0)
        return -errno;
    if (!is_private(hfd, S_IFDIR, 077)) {
        close(hfd);
        return -EPERM;
    }
    return hfd;
}

/* Other settings, other name. */
static void
entry_name(const struct engine *e, const uint8_t *hash, char name[NAME_SIZE])
{
    uint8_t key[BLAKE2B_BYTES];
    struct blake2b b;

    blake2b_init(&b);
    blake2b_add(&b, hash, BLAKE2B_BYTES);
    blake2b_add(&b, e->settings, strlen(e->settings));
    blake2b_end(&b, key);
    for (size_t i = 0; i < sizeof key; i++)
        (void)snprintf(name + 2 * i, 3, "%02x", key[i]);
    memcpy(name + 2 * sizeof key, ".code", sizeof ".code");
}

static bool
is_whole(int hfd)
{
    struct stat st;
    struct tail tail;

    if (fstat(hfd, &st) < 0 || st.st_size < (off_t)sizeof tail)
        return false;
    off_t len = st.st_size - (off_t)sizeof tail;
    return pread(hfd, &tail, sizeof tail, len) == sizeof tail &&
           !memcmp(tail.mark, mark, sizeof mark) && tail.len == (uint64_t)len;
}

OWN wasmtime_module_t *
code_cache_find(struct engine *e, const uint8_t *hash)
{
    wasmtime_module_t *module = NULL;
    char name[NAME_SIZE], path[40];

    if (e->cache_hfd < 0)
        return NULL;
    entry_name(e, hash, name);
    CLEANUP(hfd_closep)
    int hfd = openat(e->cache_hfd, name,
                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (hfd < 0 || !is_private(hfd, S_IFREG, 022) || !is_whole(hfd))
        return NULL;
    /* The file that was checked, whatever has the name now. */
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", hfd);
    wasmtime_error_t *error =
        wasmtime_module_deserialize_file(e->wasm, path, &module);
    if (!error)
        return module;
    wasmtime_error_delete(error);
    return NULL;
}

static int
write_entry(int dir_hfd, const char *name, const wasm_byte_vec_t *code)
{
    struct tail tail = {.len = code->size};
    CLEANUP(hfd_closep)
    int hfd =
        openat(dir_hfd, name,
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (hfd < 0)
        return -errno;
    memcpy(tail.mark, mark, sizeof mark);
    int r = hfd_write_all(hfd, code->data, code->size);
    return r < 0 ? r : hfd_write_all(hfd, &tail, sizeof tail);
}

void
code_cache_add(struct engine *e, const uint8_t *hash,
               const wasmtime_module_t *module)
{
    char name[NAME_SIZE], aside[NAME_SIZE + 40];
    wasm_byte_vec_t code;

    if (e->cache_hfd < 0)
        return;
    wasmtime_error_t *error = wasmtime_module_serialize(module, &code);
    if (error) {
        wasmtime_error_delete(error);
        return;
    }
    entry_name(e, hash, name);
    /* Unique among processes and threads. */
    (void)snprintf(aside, sizeof aside, "%s.%ld.%lx", name, (long)getpid(),
                   (unsigned long)pthread_self());
    if (write_entry(e->cache_hfd, aside, &code) < 0 ||
        renameat(e->cache_hfd, aside, e->cache_hfd, name) < 0)
        (void)unlinkat(e->cache_hfd, aside, 0);
    wasm_byte_vec_delete(&code);
}
