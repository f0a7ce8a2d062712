/* Fuzzes the loading of durable states: any records are refused or become the
 * sandbox's state, which can be told, and loaded again.
 *
 * Input: records, each the length of its key, the length of its value (of two
 * bytes), key, value. They are given in the order of their keys, after the
 * facts that a state needs. */
#include "host/tar.h"
#include "lib/state.h"
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS_MAX = 1000 };

static struct wsand_sandbox *sb;

/* --- a small root image */

static uint64_t
add_file(struct tree *t, uint64_t dir, const char *name, unsigned mode,
         const char *text)
{
    const struct attr a = {.mode = mode};
    const struct name n = {name, strlen(name)};
    uint64_t ino;

    int r = S_ISLNK(mode)
                ? tree_symlink(t, dir, n, text, strlen(text), &a, 0, &ino)
                : tree_create(t, dir, n, &a, 0, &ino);
    for (unsigned at = 0; r == 0 && S_ISREG(mode) && at < 10000; at += 4)
        (void)tree_write(t, ino, at, text, 4, 0);
    if (r < 0)
        abort();
    return ino;
}

static void
make_image(const char *path)
{
    static const struct quota max = {1 << 20, 100};
    struct tree none, t;
    struct image_error err;
    struct buf out;

    buf_init(&out, 1 << 20);
    if (tree_init(&none, &max, 0) < 0 || tree_clone(&none, &t) < 0)
        abort();
    uint64_t d = add_file(&t, TREE_ROOT, "d", S_IFDIR | 0755, "");
    uint64_t e = add_file(&t, d, "e", S_IFDIR | 0755, "");
    (void)add_file(&t, e, "f", S_IFREG | 0644, "abcd");
    (void)add_file(&t, TREE_ROOT, "g", S_IFREG | 0755, "efgh");
    (void)add_file(&t, TREE_ROOT, "l", S_IFLNK | 0777, "d/e");
    FILE *f = fopen(path, "w");
    if (tar_write(&none, &t, NULL, &out, &err) < 0 || !f ||
        fwrite(out.p, out.len, 1, f) != 1 || fclose(f) != 0)
        abort();
    tree_fini(&t);
    tree_fini(&none);
    buf_fini(&out);
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

    state_image_hash(sb->image, hash);
    (void)add(all, "aimage", 6, hash, sizeof hash);
    state_module_hash(sb->image, hash);
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
