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

/* Session a: /dir/file (2 blocks), /other, a page of the shell, a command, a
 * script. */
static void
make(struct world *w)
{
    struct record_key page = {.type = RECORD_PAGE};
    struct record_key command = {.type = RECORD_COMMAND};
    struct record_key script = {
        .type = RECORD_FACT, .name = "script", .name_len = 6};
    char bytes[6000];
    struct buf b;

    memset(bytes, 'p', sizeof bytes);
    buf_init(&b, SIZE_MAX / 4);
    CHECK_EQ(new_session(w->s, "a"), 0);
    add_inode(&b, 2, S_IFDIR | 0755, 0);
    add_name(&b, 1, "dir", 2);
    add_file(&b, 2, "file", 3, 1, 4096);
    add_block(&b, 3, 1, 2, 4096);
    add_file(&b, 1, "other", 4, 3, 4096);
    add_put(&b, &page, bytes, RECORD_PAGE_BYTES);
    add_put(&b, &command, "ls", 2);
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
    CHECK_EQ(count_records(w.s, "a"), 10);
    buf_fini(&b);
    world_fini(&w);
}

TEST(damage_is_told_for_every_fork_and_repaired_for_each)
{
    struct report r = {0};
    struct world w;

    world_init(&w, NULL);
    make(&w);
    CHECK_EQ(fork_session(w.s, "a", "b"), 0);
    damage_chunk(&w, OTHER_BLOCK);
    CHECK_EQ(fsck(&w, false).n, 2);
    CHECK_EQ(store_repair(w.s, "b", true, note, &r), 1);
    CHECK_EQ(count_records(w.s, "b"), 11);
    r = fsck(&w, true);
    CHECK_EQ(r.n, 1);
    CHECK(strstr(r.text, "a|/other|"));
    CHECK_EQ(count_records(w.s, "a"), 11);
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
    CHECK_EQ(new_session(w.s, "b"), 0);
    buf_init(&b, SIZE_MAX / 4);
    add_file(&b, 1, "copy", 2, 3, 4096);
    CHECK_EQ(commit_frames(w.s, "b", &b), 0);
    CHECK_EQ(fsck(&w, false).n, 0);
    buf_fini(&b);
    world_fini(&w);
}

/* Every record has its own way to be lost. */
TEST(damaged_records_cost_what_they_are_about)
{
    static const struct {
        const char *key, *found;
        long left; /* records, of 12 */
    } rows[] = {
        {"70", "a||the shell's memory is damaged", 11},
        {"68", "a||a command of the history is damaged", 12},
        {"690000000000000004", "a|/other|its inode is damaged", 11},
        {"6E0000000000000002", "a|/dir/file|the name is damaged", 11},
        {"61", "a||the shell's script is damaged", 11},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        char sql[256];
        world_init(&w, NULL);
        make(&w);
        (void)snprintf(sql, sizeof sql,
                       "UPDATE record SET value=substr(value, 2)||x'00' "
                       "WHERE hex(key) LIKE '%s%%' AND chunk IS NULL",
                       rows[i].key);
        damage(&w, sql);
        damage_chunk(&w, rows[i].key);
        CHECK_EQ(count_records(w.s, "a"), -1);
        struct report r = fsck(&w, true);
        CHECK_EQ(r.repaired, r.n);
        CHECK(strstr(r.text, rows[i].found));
        CHECK_EQ(count_records(w.s, "a"), rows[i].left);
        CHECK_EQ(fsck(&w, false).n, 0);
        world_fini(&w);
    }
}

static void
add_place(struct buf *b, uint64_t inode, uint64_t dir, const char *name)
{
    const struct record_key k = {.type = RECORD_PLACE, .inode = inode};
    const struct record_place p = {dir, name, strlen(name)};
    uint8_t value[RECORD_PLACE_BYTES];

    add_put(b, &k, value, record_place_put(&p, value));
}

/* Session a: /etc/file, in a folder of the image; /etc/x, a changed file of it,
 * and /opt/bin, a folder of it in one that was renamed. */
static void
make_over_image(struct world *w)
{
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    CHECK_EQ(new_session(w->s, "a"), 0);
    add_inode(&b, 10, S_IFDIR | 0755, 0);
    add_inode(&b, 11, S_IFREG | 0644, 4096);
    add_inode(&b, 12, S_IFDIR | 0755, 0);
    add_inode(&b, 13, S_IFDIR | 0755, 0);
    add_place(&b, 10, 1, "etc");
    add_place(&b, 11, 10, "x");
    add_place(&b, 12, 1, "usr");
    add_place(&b, 13, 12, "bin");
    add_name(&b, 1, "opt", 12);
    add_block(&b, 11, 0, 1, 4096);
    add_file(&b, 10, "file", 100, 2, 4096);
    add_file(&b, 13, "tool", 101, 3, 4096);
    CHECK_EQ(commit_frames(w->s, "a", &b), 0);
    CHECK_EQ(fsck(w, false).n, 0);
    buf_fini(&b);
}

TEST(paths_through_folders_of_the_image_are_named)
{
    static const struct {
        const char *key, *found;
        long left; /* records, of 16 */
    } rows[] = {
        {"780000000000000064", "a|/etc/file|its contents are damaged", 15},
        {"780000000000000065", "a|/opt/bin/tool|its contents are damaged", 15},
        {"78000000000000000B", "a|/etc/x|its contents are damaged", 15},
        /* back to what the image has */
        {"69000000000000000B", "a|/etc/x|its inode is damaged", 14},
        {"69000000000000000D", "a|/opt/bin|its inode is damaged", 15},
        {"77000000000000000D", "a||a place in the image is damaged", 16},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        char sql[256];
        world_init(&w, NULL);
        make_over_image(&w);
        (void)snprintf(sql, sizeof sql,
                       "UPDATE record SET sum=sum+1 WHERE hex(key) LIKE '%s%%'",
                       rows[i].key);
        damage(&w, sql);
        struct report r = fsck(&w, true);
        CHECK(strstr(r.text, rows[i].found));
        CHECK_EQ(count_records(w.s, "a"), rows[i].left);
        CHECK_EQ(fsck(&w, false).n, 0);
        world_fini(&w);
    }
}

TEST(sums_of_earlier_programs_have_other_high_bits)
{
    struct world w;

    world_init(&w, NULL);
    make(&w);
    damage(&w, "UPDATE record SET sum=sum&0x3fffffff");
    CHECK_EQ(fsck(&w, false).n, 0);
    damage(&w, "UPDATE record SET sum=sum|0xc0000000");
    CHECK_EQ(fsck(&w, false).n, 0);
    world_fini(&w);
}

TEST(what_lost_its_name_gets_another)
{
    struct world w;
    struct buf b;

    world_init(&w, NULL);
    make(&w);
    buf_init(&b, SIZE_MAX / 4);
    add_place(&b, 9, 1, "etc");
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    buf_fini(&b);
    damage(&w, "UPDATE record SET sum=sum+1 WHERE "
               "hex(key) LIKE '6E0000000000000001646972'"); /* dir */
    struct report r = fsck(&w, true);
    CHECK_EQ(r.repaired, 2);
    CHECK(strstr(r.text, "a|/dir|the name is damaged"));
    CHECK(strstr(r.text, "a|/lost.2|its name was lost"));
    damage_chunk(&w, FILE_BLOCKS);
    CHECK(strstr(fsck(&w, true).text, "a|/lost.2/file|its contents"));
    CHECK_EQ(fsck(&w, false).n, 0);
    world_fini(&w);
}

TEST(a_folder_whose_inode_is_damaged_keeps_what_is_in_it)
{
    struct world w;

    world_init(&w, NULL);
    make(&w);
    damage(&w, "UPDATE record SET sum=sum+1 WHERE "
               "hex(key) LIKE '690000000000000002'");
    struct report r = fsck(&w, true);
    CHECK_EQ(r.n, 1);
    CHECK(strstr(r.text, "a|/dir|its inode is damaged"));
    CHECK_EQ(count_records(w.s, "a"), 12);
    CHECK_EQ(fsck(&w, false).n, 0);
    world_fini(&w);
}

TEST(records_that_do_not_fit_are_removed)
{
    struct world w;
    struct buf b;

    world_init(&w, NULL);
    make(&w);
    buf_init(&b, SIZE_MAX / 4);
    add_name(&b, 3, "in-a-file", 4);
    add_block(&b, 2, 0, 1, 100);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    struct report r = fsck(&w, true);
    CHECK_EQ(r.repaired, 2);
    CHECK(strstr(r.text, "a||a record does not fit to its inode"));
    CHECK_EQ(count_records(w.s, "a"), 12);
    buf_fini(&b);
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
        {"INSERT INTO record VALUES(999, x'69', 0, x'', NULL, 0)",
         "1 records of no layer"},
        {"INSERT INTO layer VALUES(999, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0)",
         "1 layers that nothing refers to"},
        {"INSERT INTO layer VALUES(998, 0, 77, 0, 0, 0, 0, 0, NULL, 0, 0, 0)",
         "1 layers that no session has"},
        {"UPDATE layer SET parent=500 WHERE session>0",
         "1 layers without their parent"},
        {"INSERT INTO record SELECT layer, x'FF00', 0, x'', NULL, 0 FROM "
         "session",
         "a record is malformed"},
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
        CHECK_EQ(count_records(w.s, "a"), 12);
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
    CHECK_EQ(count_records(w.s, "a"), 11);
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
