/* Fuzzes the loading of durable states: any records are refused or become the
 * sandbox's state, which can be told, and loaded again.
 *
 * Input: records, each the length of its key, the length of its value (of two
 * bytes), key, value. They are given in the order of their keys, after the
 * facts that a state needs. */
#include "lib/state.h"
#include "record/record.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS_MAX = 1000 };

static struct wsand_sandbox *sb;

/* --- a small root image */

static void
add_entry(struct archive *a, const char *path, unsigned mode, const char *text)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, path);
    archive_entry_set_mode(e, mode);
    if (S_ISLNK(mode))
        archive_entry_set_symlink(e, text);
    if (S_ISREG(mode))
        archive_entry_set_size(e, 10000);
    if (archive_write_header(a, e) != ARCHIVE_OK)
        abort();
    for (int left = 10000; S_ISREG(mode) && left > 0; left -= 4)
        (void)archive_write_data(a, text, 4);
    archive_entry_free(e);
}

static void
make_image(const char *path)
{
    struct archive *a = archive_write_new();

    if (archive_write_set_format_ustar(a) != ARCHIVE_OK ||
        archive_write_open_filename(a, path) != ARCHIVE_OK)
        abort();
    add_entry(a, "d", S_IFDIR | 0755, "");
    add_entry(a, "d/e", S_IFDIR | 0755, "");
    add_entry(a, "d/e/f", S_IFREG | 0644, "abcd");
    add_entry(a, "g", S_IFREG | 0755, "efgh");
    add_entry(a, "l", S_IFLNK | 0777, "d/e");
    (void)archive_write_close(a);
    (void)archive_write_free(a);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char path[] = "/tmp/wasmsand-fuzz-XXXXXX";
    struct wsand_runtime_options ro = {
        .size = sizeof ro, .root_image = path, .max_processes = 4};
    const struct wsand_mount m = {.guest_path = "/m", .is_writable = true};
    struct wsand_options o = {.size = sizeof o,
                              .files = 200,
                              .file_bytes = 1 << 20,
                              .mounts = &m,
                              .n_mounts = 1};
    struct wsand_runtime *rt;

    (void)argc, (void)argv;
    int fd = mkstemp(path);
    if (fd < 0)
        abort();
    make_image(path);
    if (wsand_runtime_new(&ro, &rt, NULL) < 0 ||
        wsand_sandbox_new(rt, &o, &sb, NULL) < 0)
        abort();
    (void)close(fd);
    (void)unlink(path);
    return 0;
}

/* --- records */

struct record {
    uint8_t *key, *value;
    size_t key_len, len;
};

struct records {
    struct record v[RECORDS_MAX];
    size_t n;
};

static int
add(void *arg, const void *key, size_t key_len, const void *value, size_t len)
{
    struct records *all = arg;

    if (all->n == RECORDS_MAX || !value)
        abort();
    struct record *r = &all->v[all->n++];
    *r = (struct record){malloc(key_len + 1), malloc(len + 1), key_len, len};
    memcpy(r->key, key, key_len);
    memcpy(r->value, value, len);
    return 0;
}

static void
clear(struct records *all)
{
    while (all->n) {
        free(all->v[--all->n].key);
        free(all->v[all->n].value);
    }
}

static int
by_key(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    size_t n = x->key_len < y->key_len ? x->key_len : y->key_len;
    int c = memcmp(x->key, y->key, n);

    return c ? c : (x->key_len > y->key_len) - (x->key_len < y->key_len);
}

static int
load(struct records *all)
{
    struct wsand_state *st = NULL;
    int r = wsand_state_begin(sb, &st, NULL);

    qsort(all->v, all->n, sizeof *all->v, by_key);
    for (size_t i = 0; r == 0 && i < all->n; i++)
        r = wsand_state_put(st, all->v[i].key, all->v[i].key_len,
                            all->v[i].value, all->v[i].len, NULL);
    if (r == 0)
        return wsand_state_apply(st, NULL);
    wsand_state_free(st);
    return r;
}

static void
add_facts(struct records *all)
{
    const uint8_t version[] = {0, 0, 0, RECORD_VERSION};
    uint8_t hash[32];

    state_image_hash(sb->runtime, hash);
    (void)add(all, "aimage", 6, hash, sizeof hash);
    state_module_hash(sb->runtime, hash);
    (void)add(all, "amodule", 7, hash, sizeof hash);
    (void)add(all, "aversion", 8, version, sizeof version);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct records all, again;
    const struct wsand_sink to = {add, &again};
    struct wsand_sandbox *fork = NULL;

    add_facts(&all);
    while (size > 3 && all.n < RECORDS_MAX / 2) {
        size_t key_len = data[0], len = data[1] | (size_t)data[2] << 8;
        data += 3;
        size -= 3;
        key_len = key_len < size ? key_len : size;
        len = len < size - key_len ? len : size - key_len;
        (void)add(&all, data, key_len, data + key_len, len);
        data += key_len + len;
        size -= key_len + len;
    }
    if (load(&all) == 0) {
        if (wsand_fork(sb, &fork, NULL) < 0 ||
            wsand_state_changes(fork, &to, false, NULL) < 0 || load(&again) < 0)
            abort();
        wsand_sandbox_free(fork);
        if (wsand_reset(sb, NULL) < 0)
            abort();
    }
    clear(&all);
    clear(&again);
    return 0;
}
