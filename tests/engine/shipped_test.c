/* Compiled code that came with the programs. */
#include "fake_kernel.h"

#include "../unit/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHIPPED PROGRAM("(loop) " CALL1(2, "(i32.const 78)"))
enum { NOBODY = 65534 };

/* A folder for the cache and one to be shipped, and the program. */
struct shipping {
    char cache[40], shipped[40];
    uint8_t *wasm;
    size_t len;
};

/* The path of the first entry, "" if there is none; their number. */
static int
entries(const char *folder, char *ret_path, size_t size)
{
    DIR *d = opendir(folder);
    int n = 0;

    ret_path[0] = 0;
    for (struct dirent *it; d && (it = readdir(d));)
        if (it->d_name[0] != '.' && !n++)
            (void)snprintf(ret_path, size, "%s/%s", folder, it->d_name);
    if (d)
        closedir(d);
    return n;
}

static void
folder_remove(const char *folder)
{
    char path[400];

    while (entries(folder, path, sizeof path))
        unlink(path);
    rmdir(folder);
}

/* -ENOENT: it would have to be compiled. */
static int
load(struct engine *e, const struct shipping *s, const struct host_file *f,
     bool cached_only)
{
    struct program_source src = {.bytes = f ? f->bytes : s->wasm,
                                 .len = s->len,
                                 .name = "test",
                                 .is_trusted = true,
                                 .cached_only = cached_only,
                                 .file = f};
    struct program *p = NULL;
    char why[200];

    int r = fake_load(e, &src, &p, why, sizeof why);
    program_put(p);
    return r;
}

static struct engine *
engine_with(const char *cache_dir, const char *shipped_dir)
{
    struct engine_options o = {.max_machines = 1,
                               .cache_dir = cache_dir,
                               .shipped_dir = shipped_dir,
                               .compiles_in_process = true};
    struct engine *e = NULL;
    char why[200];

    CHECK_EQ(engine_new(&o, &e, why, sizeof why), 0);
    return e;
}

static int
ship(struct engine *e, const struct shipping *s)
{
    struct program_source src = {
        .bytes = s->wasm, .len = s->len, .is_trusted = true};
    int hfd = open(s->shipped, O_RDONLY | O_DIRECTORY);

    int r = engine_ship(e, &src, hfd);
    close(hfd);
    return r;
}

/* Compiled, shipped, and gone from the cache. */
static void
shipping_make(struct shipping *s)
{
    strcpy(s->cache, "/tmp/wasmsand-cache-XXXXXX");
    strcpy(s->shipped, "/tmp/wasmsand-shipped-XXXXXX");
    CHECK(mkdtemp(s->cache) && mkdtemp(s->shipped));
    CHECK_EQ(chmod(s->shipped, 0755), 0);
    s->wasm = fake_wasm(SHIPPED, &s->len);
    struct engine *e = engine_with(s->cache, NULL);
    CHECK_EQ(ship(e, s), -ENOENT);
    CHECK_EQ(load(e, s, NULL, false), 0);
    CHECK_EQ(ship(e, s), 0);
    CHECK_EQ(ship(e, s), 0);
    engine_free(e);
    folder_remove(s->cache);
    CHECK_EQ(mkdir(s->cache, 0700), 0);
}

static void
shipping_remove(struct shipping *s)
{
    free(s->wasm);
    folder_remove(s->cache);
    folder_remove(s->shipped);
}

static bool
is_found(const struct shipping *s)
{
    struct engine *e = engine_with(NULL, s->shipped);

    int r = load(e, s, NULL, true);
    engine_free(e);
    return r == 0;
}

TEST(shipped_code_is_found_without_a_cache)
{
    struct shipping s;
    char path[400];
    struct stat st;

    shipping_make(&s);
    CHECK_EQ(entries(s.shipped, path, sizeof path), 1);
    CHECK_EQ(stat(path, &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0644);
    CHECK(is_found(&s));
    shipping_remove(&s);
}

TEST(shipped_code_that_others_can_write_is_not_used)
{
    struct shipping s;
    char path[400];

    shipping_make(&s);
    (void)entries(s.shipped, path, sizeof path);
    CHECK_EQ(chmod(path, 0664), 0);
    CHECK(!is_found(&s));
    CHECK_EQ(chmod(path, 0644), 0);
    CHECK_EQ(chmod(s.shipped, 0775), 0);
    CHECK(!is_found(&s));
    CHECK_EQ(chmod(s.shipped, 0755), 0);
    CHECK(is_found(&s));
    shipping_remove(&s);
}

TEST(shipped_code_is_of_this_user_or_root)
{
    struct shipping s;
    char path[400];

    if (geteuid() != 0)
        SKIP("only root can become another user");
    shipping_make(&s);
    (void)entries(s.shipped, path, sizeof path);
    CHECK_EQ(seteuid(NOBODY), 0);
    CHECK(is_found(&s));
    CHECK_EQ(seteuid(0), 0);
    CHECK_EQ(chown(path, NOBODY, 0), 0);
    CHECK(!is_found(&s));
    CHECK_EQ(chown(path, 0, 0), 0);
    CHECK_EQ(chown(s.shipped, NOBODY, 0), 0);
    CHECK(!is_found(&s));
    shipping_remove(&s);
}

TEST(a_link_is_no_shipped_code)
{
    struct shipping s;
    char path[400], other[410];

    shipping_make(&s);
    (void)entries(s.shipped, path, sizeof path);
    (void)snprintf(other, sizeof other, "%s/other", s.cache);
    CHECK_EQ(rename(path, other), 0);
    CHECK_EQ(symlink(other, path), 0);
    CHECK(!is_found(&s));
    shipping_remove(&s);
}

TEST(damaged_shipped_code_is_compiled_to_the_cache)
{
    struct shipping s;
    char path[400];

    shipping_make(&s);
    (void)entries(s.shipped, path, sizeof path);
    CHECK_EQ(truncate(path, 100), 0);
    CHECK(!is_found(&s));
    struct engine *e = engine_with(s.cache, s.shipped);
    CHECK_EQ(load(e, &s, NULL, false), 0);
    engine_free(e);
    CHECK_EQ(entries(s.cache, path, sizeof path), 1);
    shipping_remove(&s);
}

TEST(the_place_of_shipped_code_is_noted_in_the_cache)
{
    struct shipping s;
    char path[400];
    struct stat st;

    shipping_make(&s);
    struct host_file f = {
        .bytes = s.wasm, .len = s.len, .identity = {1}, .is_settled = true};
    struct engine *e = engine_with(s.cache, s.shipped);
    CHECK_EQ(load(e, &s, &f, true), 0);
    engine_free(e);
    CHECK_EQ(entries(s.cache, path, sizeof path), 1);
    CHECK_EQ(stat(path, &st), 0);
    CHECK_EQ(st.st_nlink, 2);
    memset(s.wasm, 0, s.len); /* nobody reads it */
    e = engine_with(s.cache, NULL);
    CHECK_EQ(load(e, &s, &f, true), 0);
    engine_free(e);
    shipping_remove(&s);
}
