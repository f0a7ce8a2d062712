/* Damage: what it costs, what is said about it, and its repair. */
#include "../unit/test.h"
#include "disk.h"
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct report {
    int n, repaired;
    char text[2048];
};

static void
note(void *arg, const struct store_finding *f)
{
    struct report *r = arg;
    size_t len = strlen(r->text);

    r->n++;
    r->repaired += f->is_repaired;
    (void)snprintf(r->text + len, sizeof r->text - len, "%s|%s|%s\n",
                   f->session, f->path, f->what);
}

static struct report
fsck(struct world *w, bool repair)
{
    struct report r = {0};

    CHECK_EQ(store_fsck(w->s, repair, note, &r), r.n);
    return r;
}

/* Session a: /dir/file (2 blocks), /other, a page of the shell, a script. */
static void
make(struct world *w)
{
    struct record_key page = {.type = RECORD_PAGE};
    struct record_key script = {
        .type = RECORD_FACT, .name = "script", .name_len = 6};
    char bytes[4096];
    struct buf b;

    memset(bytes, 'p', sizeof bytes);
    buf_init(&b, SIZE_MAX / 4);
    CHECK_EQ(session_new(w->s, "a"), 0);
    add_inode(&b, 2, S_IFDIR | 0755, 0);
    add_name(&b, 1, "dir", 2);
    add_file(&b, 2, "file", 3, 1, 4096);
    add_block(&b, 3, 1, 2, 4096);
    add_file(&b, 1, "other", 4, 3, 4096);
    add_put(&b, &page, bytes, sizeof bytes);
    memset(bytes, 's', sizeof bytes);
    add_put(&b, &script, bytes, sizeof bytes);
    CHECK_EQ(commit_frames(w->s, "a", &b), 0);
    buf_fini(&b);
}

/* Changes the store from outside. */
static void
damage(struct world *w, const char *sql)
{
    store_free(STEAL(w->s));
    sql_on(w, sql);
    world_reopen(w);
}

/* Damages the chunk of a record whose key begins with these hex digits. */
static void
damage_chunk(struct world *w, const char *hex)
{
    char sql[256];

    (void)snprintf(sql, sizeof sql,
                   "UPDATE chunk SET data=zeroblob(length(data)) WHERE id IN "
                   "(SELECT chunk FROM record WHERE hex(key) LIKE '%s%%')",
                   hex);
    damage(w, sql);
}

#define FILE_BLOCKS "780000000000000003"
#define OTHER_BLOCK "780000000000000004"

TEST(a_damaged_chunk_costs_only_its_file)
{
    struct buf b;
    struct world w;

    world_init(&w, NULL);
    make(&w);
    damage_chunk(&w, FILE_BLOCKS);
    buf_init(&b, SIZE_MAX / 4);
    CHECK_EQ(read_frames(w.s, "a", 1 << 20, &b), -EBADMSG);
    CHECK(strstr(store_why(w.s), "session a: /dir/file is damaged"));
    struct report r = fsck(&w, false);
    CHECK_EQ(r.n, 1);
    CHECK(strstr(r.text, "a|/dir/file|its contents are damaged"));
    CHECK_EQ(fsck(&w, true).repaired, 1);
    CHECK_EQ(fsck(&w, false).n, 0);
    CHECK_EQ(count_records(w.s, "a"), 9);
    buf_fini(&b);
    world_fini(&w);
}

TEST(damage_is_told_for_every_fork_and_repaired_for_each)
{
    struct report r = {0};
    struct world w;

    world_init(&w, NULL);
    make(&w);
    CHECK_EQ(session_fork(w.s, "a", "b"), 0);
    damage_chunk(&w, OTHER_BLOCK);
    CHECK_EQ(fsck(&w, false).n, 2);
    CHECK_EQ(store_repair(w.s, "b", true, note, &r), 1);
    CHECK_EQ(count_records(w.s, "b"), 10);
    r = fsck(&w, true);
    CHECK_EQ(r.n, 1);
    CHECK(strstr(r.text, "a|/other|"));
    CHECK_EQ(count_records(w.s, "a"), 10);
    CHECK_EQ(fsck(&w, false).n, 0);
    CHECK_EQ(store_repair(w.s, "c", false, note, &r), -ENOENT);
    world_fini(&w);
}

TEST(the_same_bytes_written_again_heal_a_chunk)
{
    struct buf b;
    struct world w;

    world_init(&w, NULL);
    make(&w);
    damage_chunk(&w, OTHER_BLOCK);
    CHECK_EQ(session_new(w.s, "b"), 0);
    buf_init(&b, SIZE_MAX / 4);
    add_file(&b, 1, "copy", 2, 3, 4096);
    CHECK_EQ(commit_frames(w.s, "b", &b), 0);
    CHECK_EQ(fsck(&w, false).n, 0);
    buf_fini(&b);
    world_fini(&w);
}

TEST(a_damaged_shell_becomes_a_new_one)
{
    struct world w;

    world_init(&w, NULL);
    make(&w);
    damage_chunk(&w, "70");
    CHECK(strstr(fsck(&w, true).text, "shell"));
    CHECK_EQ(count_records(w.s, "a"), 10);
    damage_chunk(&w, "61");
    CHECK_EQ(fsck(&w, true).repaired, 1);
    CHECK_EQ(count_records(w.s, "a"), 9);
    CHECK_EQ(fsck(&w, false).n, 0);
    world_fini(&w);
}

TEST(a_missing_chunk_is_like_a_damaged_one)
{
    struct world w;

    world_init(&w, NULL);
    make(&w);
    damage(&w, "DELETE FROM chunk WHERE id IN (SELECT chunk FROM record WHERE "
               "hex(key) LIKE '" OTHER_BLOCK "%')");
    struct report r = fsck(&w, true);
    CHECK_EQ(r.n, 1);
    CHECK(strstr(r.text, "a|/other|"));
    CHECK_EQ(fsck(&w, false).n, 0);
    world_fini(&w);
}

TEST(wrong_figures_and_references_are_put_right)
{
    static const struct {
        const char *sql, *what;
    } rows[] = {
        {"UPDATE layer SET bytes=bytes+1", "its amounts are wrong"},
        {"INSERT INTO chunk(hash, data) VALUES(x'00', x'00')",
         "1 chunks that nothing refers to"},
        {"INSERT INTO record VALUES(999, x'69', 0, x'', NULL)",
         "1 records of no layer"},
        {"INSERT INTO layer VALUES(999, 0, 0, 0, 0, 0, 0, 0, NULL)",
         "1 layers that nothing refers to"},
        {"INSERT INTO layer VALUES(998, 0, 77, 0, 0, 0, 0, 0, NULL)",
         "1 layers that no session has"},
        {"UPDATE layer SET parent=500 WHERE session>0",
         "1 layers without their parent"},
        {"INSERT INTO record SELECT layer, x'FF00', 0, x'', NULL FROM session",
         "a record has no form"},
        {"INSERT INTO record SELECT layer, x'69000000000000000A', 1, x'AA', "
         "NULL FROM session",
         "a record is damaged"},
        {"INSERT INTO record SELECT layer, x'6E000000000000000378', 0, x'', "
         "NULL FROM session",
         "a record does not fit to its inode"},
    };
    struct world w;

    world_init(&w, NULL);
    make(&w);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        damage(&w, rows[i].sql);
        struct report r = fsck(&w, false);
        CHECK(r.n > 0 && strstr(r.text, rows[i].what));
        if (!strstr(r.text, rows[i].what))
            printf("  %s: %s\n", rows[i].what, r.text);
        CHECK_EQ(r.repaired, 0);
        r = fsck(&w, true);
        CHECK_EQ(r.repaired, r.n);
        world_tidy(&w);
        CHECK_EQ(fsck(&w, false).n, 0);
        CHECK_EQ(count_records(w.s, "a"), 11);
    }
    world_fini(&w);
}

/* A byte of a page that is only bytes of a chunk, and the store's upkeep. */
TEST(a_bit_that_flips_on_the_disk_is_found)
{
    struct store_options o = {.vfs = DISK_VFS, .log_pages = 1};
    char path[128];
    uint8_t bytes[64];
    struct world w;

    disk_init(1);
    world_init(&w, &o);
    make(&w);
    CHECK_EQ(store_checkpoint(w.s), 0);
    store_free(STEAL(w.s));
    (void)snprintf(path, sizeof path, "%s/store.db-wal", w.dir);
    disk_remove(path);
    (void)snprintf(path, sizeof path, "%s/store.db", w.dir);
    memset(bytes, 's', sizeof bytes);
    CHECK(disk_damage(path, bytes, sizeof bytes));
    world_reopen(&w);
    CHECK_EQ(count_records(w.s, "a"), -1);
    CHECK_EQ(fsck(&w, true).repaired, 1);
    CHECK_EQ(count_records(w.s, "a"), 10);
    world_tidy(&w);
    CHECK_EQ(fsck(&w, false).n, 0);
    world_fini(&w);
    disk_fini();
}

TEST(a_store_that_is_not_there_is_not_made_by_a_check)
{
    struct store_options o = {.is_old = true};
    char why[STORE_WHY_BYTES] = "", dir[] = "/tmp/wasmsand-none-XXXXXX";
    struct store *s;

    CHECK(mkdtemp(dir));
    CHECK_EQ(store_open(dir, &o, why, &s), -ENOENT);
    CHECK(strstr(why, "there is no store"));
    (void)snprintf(why, sizeof why, "%s/lock", dir);
    (void)remove(why);
    CHECK_EQ(remove(dir), 0);
    CHECK_EQ(store_open(dir, &o, why, &s), -ENOENT);
}
