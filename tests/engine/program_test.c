#include "fake_kernel.h"

#include "../unit/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- what is refused, and why */

static void
check_refused(const char *wat, const char *reason)
{
    struct engine *e = fake_engine(1, NULL);
    char why[200] = "";

    CHECK(!fake_program(e, wat, false, why, sizeof why));
    if (!strstr(why, reason))
        test_failed(__FILE__, __LINE__, why);
    engine_free(e);
}

TEST(unknown_imports_are_named)
{
    check_refused("(module (import \"env\" \"foo\" (func)) " MEMORY
                  "(func (export \"_start\")))",
                  "unknown import \"env\" \"foo\"");
    check_refused("(module (import \"sys\" \"calls\" (func)) " MEMORY
                  "(func (export \"_start\")))",
                  "unknown import \"sys\" \"calls\"");
    check_refused("(module (import \"env\" \"memory\" (memory 1))"
                  "(func (export \"_start\")))",
                  "unknown import \"env\" \"memory\"");
}

TEST(imports_of_another_type_are_named)
{
    check_refused("(module (import \"sys\" \"wait\" (func (param i32))) " MEMORY
                  "(func (export \"_start\")))",
                  "wrong type of import \"sys\" \"wait\"");
    check_refused("(module (import \"sys\" \"wait\" (global i32)) " MEMORY
                  "(func (export \"_start\")))",
                  "wrong type of import \"sys\" \"wait\"");
    /* Types for which wasm_valtype_kind ends the process. */
    check_refused(
        "(module (import \"sys\" \"sigword\" (func (param v128)))" MEMORY
        "(func (export \"_start\")))",
        "wrong type of import \"sys\" \"sigword\"");
    check_refused(
        "(module (import \"sys\" \"sigword\" (func (param exnref)))" MEMORY
        "(func (export \"_start\")))",
        "wrong type of import \"sys\" \"sigword\"");
    check_refused("(module (import \"wasi_snapshot_preview1\" \"fd_seek\""
                  " (func (param i32 i32 i32 i32) (result i32)))" MEMORY
                  "(func (export \"_start\")))",
                  "wrong type of import \"wasi_snapshot_preview1\" "
                  "\"fd_seek\"");
}

TEST(missing_exports_are_named)
{
    check_refused("(module (func (export \"_start\")))", "no memory");
    check_refused("(module " MEMORY "(func (export \"_initialize\")))",
                  "no _start");
    check_refused("(module " MEMORY "(func (export \"_start\") (param i32)))",
                  "no _start");
    check_refused("(module (memory 1) (global (export \"memory\") v128"
                  " (v128.const i64x2 0 0)) (func (export \"_start\")))",
                  "no memory");
}

TEST(features_that_are_off_are_refused)
{
    check_refused("(module (memory (export \"memory\") i64 1)"
                  "(func (export \"_start\")))",
                  "memory64");
    check_refused("(module (memory (export \"memory\") 1) (memory 1)"
                  "(func (export \"_start\")))",
                  "memor");
    check_refused("(module (memory (export \"memory\") 1 1 shared)"
                  "(func (export \"_start\")))",
                  "shared");
    check_refused(
        "(module (type (struct))" MEMORY "(func (export \"_start\")))", "gc");
}

TEST(bytes_that_are_no_module_are_refused)
{
    static const char bytes[][8] = {"", "\0asm", "#!/bin/", "\177ELF"};
    struct engine *e = fake_engine(1, NULL);

    for (size_t i = 0; i < 4; i++) {
        struct program_source src = {.bytes = (const uint8_t *)bytes[i],
                                     .len = i * 2,
                                     .name = "x",
                                     .is_trusted = true};
        struct program *p;
        char why[100] = "";
        CHECK_EQ(engine_ops()->load(e, &src, &p, why, sizeof why), -ENOEXEC);
        CHECK(!strcmp(why, "not a WebAssembly module"));
    }
    engine_free(e);
}

TEST(the_same_content_is_the_same_program)
{
    struct engine *e = fake_engine(1, NULL);
    struct program *a = fake_program(e, PROGRAM(""), false, NULL, 0);
    struct program *b = fake_program(e, PROGRAM(""), false, NULL, 0);
    struct program *c = fake_program(e, PROGRAM("nop"), false, NULL, 0);

    CHECK(a == b);
    CHECK(a != c);
    program_put(a);
    program_put(b);
    program_put(c);
    engine_free(e);
}

/* --- the cache on disk */

#define CACHED PROGRAM("(loop) " CALL1(2, "(i32.const 77)"))

static char dir[] = "/tmp/wasmsand-cache-XXXXXX";

/* The path of the only entry; "" if there is none. */
static const char *
entry_path(void)
{
    static char path[400];
    DIR *d = opendir(dir);

    path[0] = 0;
    for (struct dirent *it; d && (it = readdir(d));)
        if (it->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/%s", dir, it->d_name);
    if (d)
        closedir(d);
    return path;
}

static void
cache_make(void)
{
    strcpy(dir + sizeof dir - 7, "XXXXXX");
    CHECK(mkdtemp(dir) != NULL);
}

static void
cache_remove(void)
{
    while (entry_path()[0])
        unlink(entry_path());
    rmdir(dir);
}

/* Loads in an engine of its own and runs. */
static bool
loads(bool is_trusted)
{
    struct engine *e = fake_engine(1, dir);
    struct program *p = fake_program(e, CACHED, is_trusted, NULL, 0);
    struct fake f;

    bool is_right = p && !fake_init(&f, e, p) &&
                    fake_run(&f) == MACHINE_ENDED && f.log[0] == 77;
    fake_fini(&f);
    program_put(p);
    engine_free(e);
    return is_right;
}

static struct stat
entry_stat(void)
{
    struct stat st = {0};

    (void)stat(entry_path(), &st);
    return st;
}

TEST(trusted_code_is_cached_and_found_again)
{
    cache_make();
    CHECK(loads(true));
    struct stat a = entry_stat();
    CHECK(a.st_size > 0);
    CHECK_EQ(a.st_mode & 0777, 0600);
    CHECK(loads(true));
    CHECK_EQ(entry_stat().st_ino, a.st_ino);
    cache_remove();
}

TEST(untrusted_code_is_not_cached)
{
    cache_make();
    CHECK(loads(false));
    CHECK(!entry_path()[0]);
    cache_remove();
}

TEST(an_entry_that_others_can_write_is_replaced)
{
    cache_make();
    CHECK(loads(true));
    struct stat a = entry_stat();
    chmod(entry_path(), 0620);
    CHECK(loads(true));
    CHECK(entry_stat().st_ino != a.st_ino);
    CHECK_EQ(entry_stat().st_mode & 0777, 0600);
    cache_remove();
}

TEST(an_entry_of_another_owner_is_replaced)
{
    if (geteuid() != 0)
        SKIP("only root can give a file away");
    cache_make();
    CHECK(loads(true));
    CHECK_EQ(chown(entry_path(), 12345, 12345), 0);
    CHECK(loads(true));
    CHECK_EQ(entry_stat().st_uid, 0);
    cache_remove();
}

TEST(an_entry_that_is_a_link_is_replaced)
{
    char name[400], target[] = "/tmp/wasmsand-target-XXXXXX";

    cache_make();
    CHECK(loads(true));
    close(mkstemp(target));
    snprintf(name, sizeof name, "%s", entry_path());
    CHECK_EQ(rename(name, target), 0);
    CHECK_EQ(symlink(target, name), 0);
    CHECK(loads(true));
    struct stat st;
    CHECK_EQ(lstat(name, &st), 0);
    CHECK(S_ISREG(st.st_mode));
    unlink(target);
    cache_remove();
}

TEST(an_entry_cut_short_is_replaced)
{
    cache_make();
    CHECK(loads(true));
    off_t whole = entry_stat().st_size;
    static const int parts[] = {0, 1, 10, 50, 90, 99};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        CHECK_EQ(truncate(entry_path(), whole * parts[i] / 100), 0);
        CHECK(loads(true));
        CHECK_EQ(entry_stat().st_size, whole);
    }
    cache_remove();
}

TEST(a_folder_that_is_not_private_is_not_used)
{
    cache_make();
    chmod(dir, 0755);
    CHECK(loads(true));
    CHECK(!entry_path()[0]);
    cache_remove();
}

TEST(other_settings_have_entries_of_their_own)
{
    struct engine_options o = {
        .max_machines = 1, .cache_dir = dir, .is_unpreemptive = true};
    struct engine *e;
    char why[100];

    cache_make();
    CHECK(loads(true));
    CHECK_EQ(engine_new(&o, &e, why, sizeof why), 0);
    struct program *p = fake_program(e, CACHED, true, NULL, 0);
    CHECK(p != NULL);
    program_put(p);
    engine_free(e);
    unlink(entry_path());
    CHECK(entry_path()[0]);
    cache_remove();
}

/* --- programs known by their place in a file */

/* A module in memory of its own, as if mapped from a file. */
static struct host_file
file_make(const char *wat)
{
    struct host_file f = {.len = 1 << 16, .identity = {1}, .is_settled = true};
    size_t len;
    uint8_t *wasm = fake_wasm(wat, &len);
    uint8_t *map = mmap(NULL, f.len, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(map != MAP_FAILED && len < f.len);
    memcpy(map, wasm, len);
    free(wasm);
    f.bytes = map;
    f.identity[7] = len;
    return f;
}

static void
file_free(const struct host_file *f)
{
    munmap((void *)f->bytes, f->len);
}

/* Nobody can read it any more. */
static void
file_close(const struct host_file *f)
{
    CHECK_EQ(mprotect((void *)f->bytes, f->len, PROT_NONE), 0);
}

static int
load_in(struct engine *e, const struct host_file *f, bool is_trusted,
        struct program **ret)
{
    struct program_source src = {.bytes = f->bytes,
                                 .len = f->identity[7],
                                 .name = "test",
                                 .is_trusted = is_trusted,
                                 .cached_only = is_trusted,
                                 .file = f};
    char why[200];

    return engine_ops()->load(e, &src, ret, why, sizeof why);
}

static bool
is_cached(const struct host_file *f)
{
    struct engine *e = fake_engine(1, dir);
    struct program *p = NULL;

    int r = load_in(e, f, true, &p);
    program_put(p);
    engine_free(e);
    return r == 0;
}

static int
n_entries(void)
{
    DIR *d = opendir(dir);
    int n = -2; /* . and .. */

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

TEST(a_program_known_by_its_place_is_not_read)
{
    struct host_file f = file_make(CACHED);

    cache_make();
    CHECK(!is_cached(&f));
    CHECK_EQ(n_entries(), 0);
    CHECK(loads(true));
    CHECK_EQ(n_entries(), 1);
    CHECK(is_cached(&f));
    CHECK_EQ(n_entries(), 2);
    CHECK_EQ(entry_stat().st_nlink, 2);
    file_close(&f);
    CHECK(is_cached(&f));
    file_free(&f);
    cache_remove();
}

TEST(a_young_file_is_not_known_by_its_place)
{
    struct host_file f = file_make(CACHED);

    cache_make();
    CHECK(loads(true));
    f.is_settled = false;
    CHECK(is_cached(&f));
    CHECK_EQ(n_entries(), 1);
    file_free(&f);
    cache_remove();
}

TEST(a_changed_file_is_another_place)
{
    struct host_file f = file_make(CACHED), g = file_make(PROGRAM("nop"));

    cache_make();
    CHECK(loads(true));
    CHECK(is_cached(&f));
    g.identity[7] = f.identity[7];
    CHECK(is_cached(&g));
    g.identity[1]++;
    CHECK(!is_cached(&g));
    file_free(&f);
    file_free(&g);
    cache_remove();
}

TEST(what_lies_outside_of_the_file_has_no_place_in_it)
{
    struct host_file f = file_make(CACHED);
    struct host_file g = f;

    cache_make();
    CHECK(loads(true));
    f.len = f.identity[7] - 1;
    CHECK(is_cached(&f));
    f.bytes++;
    CHECK(!is_cached(&f));
    CHECK_EQ(n_entries(), 1);
    file_free(&g);
    cache_remove();
}

TEST(a_damaged_entry_of_a_place_is_made_anew)
{
    struct host_file f = file_make(CACHED);

    cache_make();
    CHECK(loads(true));
    CHECK(is_cached(&f));
    CHECK_EQ(truncate(entry_path(), 100), 0);
    CHECK(!is_cached(&f));
    CHECK(loads(true));
    CHECK(is_cached(&f));
    CHECK_EQ(n_entries(), 2);
    file_close(&f);
    CHECK(is_cached(&f));
    file_free(&f);
    cache_remove();
}

TEST(a_guests_program_has_no_place_in_the_cache)
{
    struct host_file f = file_make(CACHED);
    struct engine *e;
    struct program *p = NULL;

    cache_make();
    CHECK(loads(true));
    CHECK(is_cached(&f));
    file_close(&f);
    CHECK(is_cached(&f));
    CHECK_EQ(mprotect((void *)f.bytes, f.len, PROT_READ | PROT_WRITE), 0);
    memset((void *)f.bytes, 0, 8);
    e = fake_engine(1, dir);
    CHECK_EQ(load_in(e, &f, false, &p), -ENOEXEC);
    engine_free(e);
    file_free(&f);
    cache_remove();
}

#define FROZEN                                                       \
    "(module " MEMORY "(func (export \"_start\"))"                   \
    "(func (export \"wasmsand_resume\")) (func $s) (start $s)"       \
    "(global (export \"__stack_pointer\") (mut i32) (i32.const 0))"  \
    "(global (export \"__asyncify_state\") (mut i32) (i32.const 0))" \
    "(global (export \"__asyncify_data\") (mut i32) (i32.const 0))"  \
    "(@custom \"wasmsand.frozen\" \"a note\"))"

static bool
is_frozen(struct engine *e, const struct host_file *f, bool is_trusted)
{
    struct program *p = NULL;
    size_t len = 0;

    int r = load_in(e, f, is_trusted, &p);
    const char *section = r == 0 ? engine_ops()->section(p, &len) : NULL;
    bool is = section && len == 6 && !memcmp(section, "a note", 6);
    program_put(p);
    return is;
}

TEST(what_was_read_in_a_source_is_known_without_it)
{
    struct host_file f = file_make(FROZEN);
    struct engine *e;

    cache_make();
    e = fake_engine(1, dir);
    program_put(fake_program(e, FROZEN, true, NULL, 0));
    CHECK(is_frozen(e, &f, true));
    engine_free(e);
    file_close(&f);
    e = fake_engine(1, dir);
    CHECK(is_frozen(e, &f, true));
    engine_free(e);
    file_free(&f);
    cache_remove();
}

TEST(a_guests_copy_of_a_trusted_program_is_that_program)
{
    struct host_file f = file_make(FROZEN);
    struct engine *e;
    struct program *p = NULL;

    cache_make();
    e = fake_engine(1, dir);
    struct program *trusted = fake_program(e, FROZEN, true, NULL, 0);
    CHECK_EQ(load_in(e, &f, false, &p), 0);
    CHECK(p == trusted);
    program_put(p);
    program_put(trusted);
    engine_free(e);
    e = fake_engine(1, dir); /* which finds it on disk */
    CHECK(is_frozen(e, &f, false));
    engine_free(e);
    file_free(&f);
    cache_remove();
}

TEST(a_guests_program_does_not_begin_in_the_middle)
{
    struct host_file f = file_make(FROZEN);
    struct engine *e = fake_engine(1, NULL);

    CHECK(!is_frozen(e, &f, false));
    engine_free(e);
    file_free(&f);
}

/* --- the host's limits */

/* In a child process, where nothing can be compiled: the compiler's threads
 * are not there. */
static int
engine_under(uint64_t bytes)
{
    struct engine_options o = {.max_machines = 1000};
    struct rlimit limit = {bytes, bytes};
    struct engine *e;
    char why[100] = "";

    setrlimit(RLIMIT_AS, &limit);
    int r = engine_new(&o, &e, why, sizeof why);
    if (r < 0)
        return r == -EAGAIN && why[0] ? 2 : 3;
    return engine_max_machines(e) < 1000 ? 0 : 4;
}

static int
status_of_engine_under(uint64_t bytes)
{
    int status = -1;
    pid_t pid = fork();

    if (!pid)
        _exit(engine_under(bytes));
    waitpid(pid, &status, 0);
    return status;
}

TEST(the_pool_shrinks_to_the_address_space)
{
#if !defined(__SANITIZE_ADDRESS__)
    CHECK_EQ(status_of_engine_under(UINT64_C(200) << 30), 0);
    CHECK_EQ(status_of_engine_under(UINT64_C(1) << 30), 2 << 8);
#else
    (void)status_of_engine_under;
#endif
}

TEST(allocation_failure_in_the_engine_is_an_error)
{
    EACH_OOM(oom) {
        struct engine_options o = {.max_machines = 1};
        struct engine *e = NULL;
        char why[100];
        int r = engine_new(&o, &e, why, sizeof why);
        CHECK(!r == (e != NULL));
        CHECK(!r || r == -ENOMEM);
        engine_free(e);
    }
}

TEST(allocation_failure_in_a_machine_is_an_error)
{
    struct engine *e = fake_engine(2, NULL);

    EACH_OOM(oom) {
        struct program *p = fake_program(e, PROGRAM("nop nop"), false, NULL, 0);
        struct fake f = {0};
        if (p && !fake_init(&f, e, p))
            CHECK_EQ(fake_run(&f), MACHINE_ENDED);
        fake_fini(&f);
        program_put(p);
    }
    CHECK_EQ(engine_machines(e), 0);
    engine_free(e);
}

TEST(a_closed_engine_has_the_programs_it_had)
{
    struct engine *e = fake_engine(1, NULL);
    char why[200] = "";

    struct program *p = fake_program(e, PROGRAM(""), true, why, sizeof why);
    CHECK(p);
    engine_close(e);
    struct program *again = fake_program(e, PROGRAM(""), true, why, sizeof why);
    CHECK(again == p);
    CHECK(!fake_program(e, PROGRAM("nop"), true, why, sizeof why));
    CHECK(strstr(why, "only programs of the root image"));
    program_put(again);
    program_put(p);
    engine_free(e);
}
