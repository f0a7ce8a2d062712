/* Sessions, events, commits, forks, reads, upkeep. */
#include "../unit/test.h"
#include "world.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
copy_row(void *arg, const struct store_session *row)
{
    struct store_session *to = arg;

    *to = *row;
    to->id = to->agent = to->label = to->state = to->cause = "";
    to->limits = to->options = to->image = to->shell = "";
    return 0;
}

static struct store_session
get(struct store *s, const char *id)
{
    struct store_session row = {0};

    CHECK_EQ(store_session_get(s, id, copy_row, &row), 0);
    return row;
}

static int
check_full_row(void *arg, const struct store_session *r)
{
    (void)arg;
    CHECK(!strcmp(r->id, "a") && !strcmp(r->agent, "agent"));
    CHECK(!strcmp(r->label, "") && !strcmp(r->state, "active"));
    CHECK(!strcmp(r->limits, "{}") && !strcmp(r->image, "hash"));
    CHECK_EQ(r->created_ms, 5);
    CHECK_EQ(r->changed_ms, 6);
    CHECK(r->is_interval && !r->has_ended);
    CHECK_EQ(r->quota.pages, 7);
    return 77;
}

TEST(session_rows_are_kept)
{
    struct store_session row = {.id = "a",
                                .agent = "agent",
                                .state = "active",
                                .limits = "{}",
                                .image = "hash",
                                .created_ms = 5,
                                .changed_ms = 6,
                                .is_interval = true,
                                .quota.pages = 7};
    struct world w;

    world_init(&w, NULL);
    CHECK_EQ(store_session_create(w.s, &row), 0);
    CHECK_EQ(store_session_create(w.s, &row), -EEXIST);
    CHECK(!strcmp(store_why(w.s), "session a exists already"));
    world_reopen(&w);
    CHECK_EQ(store_session_get(w.s, "a", check_full_row, NULL), 77);
    row.changed_ms = 9;
    row.created_ms = 100;
    CHECK_EQ(store_session_update(w.s, &row), 0);
    CHECK_EQ(get(w.s, "a").changed_ms, 9);
    CHECK_EQ(get(w.s, "a").created_ms, 5);
    row.id = "b";
    CHECK_EQ(store_session_update(w.s, &row), -ENOENT);
    CHECK_EQ(store_session_get(w.s, "b", check_full_row, NULL), -ENOENT);
    row.id = "";
    CHECK_EQ(store_session_create(w.s, &row), -EINVAL);
    world_fini(&w);
}

static int
add_number(void *arg, const struct store_session *row)
{
    unsigned *numbers = arg;

    *numbers = *numbers * 10 + (unsigned)row->number;
    return 0;
}

static unsigned
list(struct store *s, struct store_filter f)
{
    unsigned numbers = 0;

    CHECK_EQ(store_session_list(s, &f, add_number, &numbers), 0);
    return numbers;
}

TEST(sessions_are_listed_by_filter_and_page)
{
    static const char *const ids[] = {"a", "b", "c", "d"};
    struct world w;

    world_init(&w, NULL);
    for (int i = 0; i < 4; i++) {
        struct store_session row = {.id = ids[i],
                                    .agent = i % 2 ? "x" : "y",
                                    .state = i < 2 ? "paused" : "active"};
        CHECK_EQ(store_session_create(w.s, &row), 0);
    }
    CHECK_EQ(end_session(w.s, "b"), 0);
    CHECK_EQ(list(w.s, (struct store_filter){0}), 134);
    CHECK_EQ(list(w.s, (struct store_filter){.with_ended = true}), 1234);
    CHECK_EQ(list(w.s, (struct store_filter){.agent = "x"}), 4);
    CHECK_EQ(list(w.s, (struct store_filter){.state = "active"}), 34);
    CHECK_EQ(list(w.s, (struct store_filter){.after = 1, .max = 1}), 3);
    world_fini(&w);
}

static int
add_seq(void *arg, const struct store_event *e)
{
    uint64_t *sum = arg;

    *sum = *sum * 10 + e->seq;
    CHECK(!strcmp(e->kind, "state"));
    return 0;
}

static uint64_t
events(struct store *s, const char *session, uint64_t after, uint32_t max)
{
    uint64_t sum = 0;

    CHECK_EQ(store_event_list(s, session, after, max, add_seq, &sum), 0);
    return sum;
}

TEST(events_have_numbers_that_only_grow)
{
    struct store_options o = {.events_max = 2};
    struct store_event e = {.time_ms = 1, .kind = "state"};
    struct world w;
    uint64_t seq;

    world_init(&w, &o);
    for (int i = 0; i < 4; i++) {
        e.session = i % 2 ? "a" : "b";
        CHECK_EQ(store_event_append(w.s, &e, &seq), 0);
        CHECK_EQ(seq, i + 1);
    }
    CHECK_EQ(events(w.s, NULL, 0, 0), 1234);
    CHECK_EQ(events(w.s, NULL, 1, 2), 23);
    CHECK_EQ(events(w.s, "a", 0, 0), 24);
    world_tidy(&w);
    CHECK_EQ(events(w.s, NULL, 0, 0), 34);
    world_fini(&w);
}

TEST(old_events_and_ended_sessions_are_forgotten)
{
    struct store_options o = {.keep_ended_ms = 100, .keep_events_ms = 50};
    struct store_event e = {.time_ms = 1000, .kind = "state"};
    struct store_session row = {.id = "a", .changed_ms = 1000};
    struct world w;

    world_init(&w, &o);
    CHECK_EQ(store_session_create(w.s, &row), 0);
    CHECK_EQ(new_session(w.s, "b"), 0);
    CHECK_EQ(store_session_end(w.s, &row), 0);
    CHECK_EQ(store_event_append(w.s, &e, NULL), 0);
    while (store_tidy(w.s, 1040) > 0)
        ;
    CHECK_EQ(events(w.s, NULL, 0, 0), 1);
    CHECK_EQ(list(w.s, (struct store_filter){.with_ended = true}), 12);
    while (store_tidy(w.s, 100000) > 0)
        ;
    CHECK_EQ(events(w.s, NULL, 0, 0), 0);
    CHECK_EQ(list(w.s, (struct store_filter){.with_ended = true}), 2);
    CHECK_EQ(store_event_append(w.s, &e, NULL), 0);
    CHECK_EQ(events(w.s, NULL, 0, 0), 2);
    world_fini(&w);
}

TEST(records_are_read_as_they_were_committed)
{
    struct buf b;
    struct world w;

    buf_init(&b, SIZE_MAX / 4);
    world_init(&w, NULL);
    CHECK_EQ(new_session(w.s, "a"), 0);
    CHECK_EQ(count_records(w.s, "a"), 0);
    add_file(&b, 1, "small", 2, 1, 100);
    add_file(&b, 1, "large", 3, 2, 4096);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    CHECK_EQ(count_records(w.s, "a"), 6);
    struct store_amounts u = get(w.s, "a").used;
    CHECK_EQ(u.bytes, 8192);
    CHECK_EQ(u.inodes, 2);
    CHECK_EQ(u.names, 2);
    CHECK_EQ(u.pages, 0);
    CHECK_EQ(u.other, 0);

    struct record_key k = block_key(3, 0);
    add_delete(&b, &k);
    add_delete(&b, &k);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    world_reopen(&w);
    CHECK_EQ(count_records(w.s, "a"), 5);
    CHECK_EQ(get(w.s, "a").used.bytes, 4096);
    world_tidy(&w);
    store_free(w.s);
    w.s = NULL;
    CHECK_EQ(sql_count(&w, "SELECT count(*) FROM chunk"), 0);
    buf_fini(&b);
    world_fini(&w);
}

TEST(a_record_of_the_same_length_is_written_where_it_was)
{
    const struct record_key k = {
        .type = RECORD_FACT, .name = "patch", .name_len = 5};
    uint8_t value[3072];
    struct buf b;
    struct world w;

    buf_init(&b, SIZE_MAX / 4);
    world_init(&w, NULL);
    CHECK_EQ(new_session(w.s, "a"), 0);
    for (int i = 0; i < 40; i++) {
        memset(value, i, sizeof value);
        add_put(&b, &k, value, sizeof value);
        CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    }
    store_free(w.s);
    w.s = NULL;
    CHECK_EQ(sql_count(&w, "SELECT * FROM pragma_freelist_count"), 0);
    buf_fini(&b);
    world_fini(&w);
}

TEST(malformed_records_are_refused_and_leave_nothing)
{
    struct buf b;
    struct world w;

    buf_init(&b, SIZE_MAX / 4);
    world_init(&w, NULL);
    CHECK_EQ(new_session(w.s, "a"), 0);
    add_file(&b, 1, "x", 2, 1, 4096);
    size_t good = b.len;
    add_put(&b, &(struct record_key){.type = RECORD_INODE, .inode = 3}, "x", 1);
    CHECK_EQ(commit_frames(w.s, "a", &b), -EPROTO);
    b.len = good - 1;
    CHECK_EQ(commit_frames(w.s, "a", &b), -EPROTO);
    b.len = 0;
    buf_add(&b, "E\0\0\0\10\0\0\0\1\0\0\0\0\0\0\0", 16);
    CHECK_EQ(commit_frames(w.s, "a", &b), -EPROTO);
    CHECK_EQ(count_records(w.s, "a"), 0);
    CHECK_EQ(commit_frames(w.s, "b", &b), -ENOENT);
    buf_fini(&b);
    world_fini(&w);
}

TEST(what_is_beyond_a_quota_is_refused_by_name)
{
    struct store_session row = {
        .id = "a",
        .quota = {.bytes = 2 * 4096, .inodes = 3, .pages = 1, .other = 60}};
    struct record_key page = {.type = RECORD_PAGE};
    struct record_key command = {.type = RECORD_COMMAND};
    struct buf b;
    struct world w;

    buf_init(&b, SIZE_MAX / 4);
    world_init(&w, NULL);
    CHECK_EQ(store_session_create(w.s, &row), 0);
    for (unsigned i = 0; i < 3; i++)
        add_block(&b, 2, i, i, 10);
    CHECK_EQ(commit_frames(w.s, "a", &b), -EDQUOT);
    CHECK(strstr(store_why(w.s), "bytes of files"));
    for (unsigned i = 0; i < 4; i++)
        add_inode(&b, 2 + i, S_IFREG, 0);
    CHECK_EQ(commit_frames(w.s, "a", &b), -EDQUOT);
    CHECK(strstr(store_why(w.s), "inodes"));
    for (page.index = 0; page.index < 2; page.index++)
        add_put(&b, &page, "x", 1);
    CHECK_EQ(commit_frames(w.s, "a", &b), -EDQUOT);
    CHECK(strstr(store_why(w.s), "pages of the shell"));
    for (command.index = 0; command.index < 7; command.index++)
        add_put(&b, &command, "x", 1);
    CHECK_EQ(commit_frames(w.s, "a", &b), -EDQUOT);
    CHECK(strstr(store_why(w.s), "history"));
    CHECK_EQ(count_records(w.s, "a"), 0);

    /* a replacement may be put before what it replaces is removed */
    for (unsigned i = 0; i < 4; i++)
        add_block(&b, 2, i, i, 10);
    for (unsigned i = 0; i < 2; i++) {
        struct record_key k = block_key(2, i);
        add_delete(&b, &k);
    }
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    buf_fini(&b);
    world_fini(&w);
}

TEST(whoever_is_over_a_lowered_quota_may_remove)
{
    struct store_session row = {.id = "a", .quota.bytes = 8 * 4096};
    struct record_key k = block_key(2, 0);
    struct buf b;
    struct world w;

    buf_init(&b, SIZE_MAX / 4);
    world_init(&w, NULL);
    CHECK_EQ(store_session_create(w.s, &row), 0);
    for (unsigned i = 0; i < 8; i++)
        add_block(&b, 2, i, i, 10);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    row.quota.bytes = 4096;
    CHECK_EQ(store_session_update(w.s, &row), 0);
    add_delete(&b, &k);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    add_block(&b, 2, 0, 1, 10);
    CHECK_EQ(commit_frames(w.s, "a", &b), -EDQUOT);
    buf_fini(&b);
    world_fini(&w);
}

TEST(parts_of_a_commit_are_seen_with_the_last)
{
    struct buf b;
    struct world w;

    buf_init(&b, SIZE_MAX / 4);
    world_init(&w, NULL);
    CHECK_EQ(new_session(w.s, "a"), 0);
    add_file(&b, 1, "first", 2, 1, 4096);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    add_file(&b, 1, "second", 3, 2, 4096);
    CHECK_EQ(commit_part(w.s, "a", &b, true, false), 0);
    CHECK_EQ(count_records(w.s, "a"), 3);
    CHECK_EQ(fork_session(w.s, "a", "b"), 0);
    world_tidy(&w);
    add_file(&b, 1, "third", 4, 3, 4096);
    CHECK_EQ(commit_part(w.s, "a", &b, false, true), 0);
    CHECK_EQ(count_records(w.s, "a"), 9);
    CHECK_EQ(count_records(w.s, "b"), 3);
    CHECK_EQ(get(w.s, "a").used.inodes, 3);
    world_tidy(&w);
    CHECK_EQ(count_records(w.s, "a"), 9);
    buf_fini(&b);
    world_fini(&w);
}

static void
leave_parts(struct world *w, struct buf *b)
{
    add_file(b, 1, "lost", 5, 4, 4096);
    CHECK_EQ(commit_part(w->s, "a", b, true, false), 0);
}

TEST(a_commit_without_its_end_leaves_nothing)
{
    struct buf b;
    struct world w;

    buf_init(&b, SIZE_MAX / 4);
    world_init(&w, NULL);
    CHECK_EQ(new_session(w.s, "a"), 0);
    leave_parts(&w, &b);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    CHECK_EQ(count_records(w.s, "a"), 0);
    leave_parts(&w, &b);
    CHECK_EQ(store_discard(w.s, "a"), 0);
    CHECK_EQ(commit_part(w.s, "a", &b, false, true), -EINVAL);
    leave_parts(&w, &b);
    world_reopen(&w);
    CHECK_EQ(commit_part(w.s, "a", &b, false, true), -EINVAL);
    CHECK_EQ(count_records(w.s, "a"), 0);
    leave_parts(&w, &b);
    CHECK_EQ(end_session(w.s, "a"), 0);
    world_tidy(&w);
    store_free(w.s);
    w.s = NULL;
    CHECK_EQ(sql_count(&w, "SELECT count(*) FROM chunk"), 0);
    CHECK_EQ(sql_count(&w, "SELECT count(*) FROM record"), 0);
    CHECK_EQ(sql_count(&w, "SELECT count(*) FROM layer"), 0);
    buf_fini(&b);
    world_fini(&w);
}

TEST(a_store_is_for_one_owner)
{
    char why[STORE_WHY_BYTES] = "";
    struct store *other;
    struct world w;

    world_init(&w, NULL);
    CHECK_EQ(store_open(w.dir, NULL, why, &other), -EBUSY);
    CHECK(strstr(why, "in use by process"));
    world_fini(&w);
}

TEST(folders_above_a_store_are_made)
{
    char why[STORE_WHY_BYTES] = "", dir[PATH_MAX];
    struct store *other = NULL;
    struct world w;

    world_init(&w, NULL);
    (void)snprintf(dir, sizeof dir, "%s/a//b/c/", w.dir);
    CHECK_EQ(store_open(dir, NULL, why, &other), 0);
    store_free(other);
    CHECK(store_open("/proc/none/x", NULL, why, &other) < 0);
    CHECK(strstr(why, "/proc/none"));
    world_fini(&w);
}

TEST(space_is_set_aside_for_a_full_disk)
{
    struct world w;
    struct stat st;
    char path[96];

    world_init(&w, &(struct store_options){.reserve_bytes = 1 << 20});
    (void)snprintf(path, sizeof path, "%s/reserve", w.dir);
    CHECK(store_has_reserve(w.s));
    CHECK_EQ(truncate(path, 0), 0); /* as if it had been used */
    world_reopen(&w);
    CHECK(store_has_reserve(w.s));
    CHECK(!stat(path, &st) && st.st_size == 1 << 20);
    CHECK(st.st_blocks * 512 >= 1 << 20);
    world_fini(&w);
    /* more than any disk has */
    world_init(&w, &(struct store_options){.reserve_bytes = INT64_C(1) << 60});
    CHECK(!store_has_reserve(w.s));
    CHECK_EQ(new_session(w.s, "a"), 0);
    world_fini(&w);
}

TEST(a_commit_is_weighed_before_it_is_written)
{
    struct store_change change = {0};
    struct world w;
    struct buf b;

    world_init(&w, NULL);
    buf_init(&b, SIZE_MAX / 4);
    CHECK_EQ(new_session(w.s, "a"), 0);
    add_file(&b, 1, "file", 2, 1, 4096);
    struct store_batch batch = {.session = "a", .frames = b.p, .len = b.len};
    CHECK_EQ(store_weigh(w.s, &batch, &change), 0);
    CHECK_EQ(change.bytes, RECORD_BLOCK_BYTES);
    CHECK_EQ(change.inodes, 1);
    CHECK_EQ(count_records(w.s, "a"), 0);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    struct record_key inode = inode_key(2), block = block_key(2, 0);
    add_delete(&b, &inode);
    add_delete(&b, &block);
    batch = (struct store_batch){.session = "a", .frames = b.p, .len = b.len};
    change = (struct store_change){0};
    CHECK_EQ(store_weigh(w.s, &batch, &change), 0);
    CHECK_EQ(change.bytes, -RECORD_BLOCK_BYTES);
    CHECK_EQ(change.inodes, -1);
    CHECK_EQ(count_records(w.s, "a"), 3);
    CHECK_EQ(store_fsck(w.s, false, NULL, NULL), 0);
    buf_fini(&b);
    world_fini(&w);
}

/* Replaces the store by the tables of a dump. */
static void
load_dump(struct world *w, const char *text)
{
    sqlite3 *db;
    char path[96];

    store_free(STEAL(w->s));
    (void)snprintf(path, sizeof path, "%s/store.db", w->dir);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Uses the store of a dump: sessions a and b, and c, which has ended. */
static void
use_dump(const char *text)
{
    struct world w;

    world_init(&w, NULL);
    load_dump(&w, text);
    for (int i = 0; i < 2; i++) {
        world_reopen(&w);
        CHECK_EQ(count_records(w.s, "a"), 8);
        CHECK_EQ(count_records(w.s, "b"), 10);
        CHECK_EQ(store_fsck(w.s, false, NULL, NULL), 0);
    }
    CHECK_EQ(end_session(w.s, "c"), -ENOENT);
    CHECK_EQ(end_session(w.s, "a"), 0);
    world_tidy(&w);
    CHECK_EQ(count_records(w.s, "b"), 10);
    CHECK_EQ(store_fsck(w.s, false, NULL, NULL), 0);
    world_fini(&w);
}

TEST(a_store_of_an_earlier_format_is_upgraded)
{
    use_dump(
#include "store_v1.def"
    );
}

TEST(a_store_that_an_earlier_program_wrote_is_used)
{
    use_dump(
#include "store_v2.def"
    );
}

TEST(a_store_of_another_version_is_refused)
{
    char why[STORE_WHY_BYTES] = "";
    struct store *other;
    struct world w;

    world_init(&w, NULL);
    store_free(w.s);
    w.s = NULL;
    sql_on(&w, "PRAGMA user_version=99");
    CHECK_EQ(store_open(w.dir, NULL, why, &other), -EPROTO);
    CHECK(strstr(why, "format 99"));
    sql_on(&w, "PRAGMA user_version=1; PRAGMA application_id=5");
    CHECK_EQ(store_open(w.dir, NULL, why, &other), -EBADMSG);
    CHECK(strstr(why, "not a store"));
    world_fini(&w);
}

TEST(a_fork_of_a_fork_shares_and_differs)
{
    struct buf b;
    struct world w;

    buf_init(&b, SIZE_MAX / 4);
    world_init(&w, NULL);
    CHECK_EQ(new_session(w.s, "a"), 0);
    add_file(&b, 1, "x", 2, 1, 4096);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    CHECK_EQ(fork_session(w.s, "a", "b"), 0);
    CHECK_EQ(fork_session(w.s, "a", "b"), -EEXIST);
    CHECK_EQ(fork_session(w.s, "z", "c"), -ENOENT);
    CHECK_EQ(fork_session(w.s, "b", "c"), 0);
    struct record_key k = name_key(1, "x");
    add_delete(&b, &k);
    CHECK_EQ(commit_frames(w.s, "b", &b), 0);
    add_file(&b, 1, "y", 3, 2, 4096);
    CHECK_EQ(commit_frames(w.s, "c", &b), 0);
    CHECK_EQ(count_records(w.s, "a"), 3);
    CHECK_EQ(count_records(w.s, "b"), 2);
    CHECK_EQ(count_records(w.s, "c"), 6);
    CHECK_EQ(get(w.s, "b").used.names, 0);
    CHECK_EQ(get(w.s, "c").used.bytes, 8192);
    CHECK_EQ(end_session(w.s, "a"), 0);
    CHECK_EQ(store_session_update(w.s, &(struct store_session){.id = "a"}),
             -ENOENT);
    CHECK(get(w.s, "a").has_ended);
    world_tidy(&w);
    CHECK_EQ(count_records(w.s, "a"), -1);
    CHECK_EQ(count_records(w.s, "b"), 2);
    CHECK_EQ(count_records(w.s, "c"), 6);
    CHECK_EQ(end_session(w.s, "c"), 0);
    world_tidy(&w);
    CHECK_EQ(count_records(w.s, "b"), 2);
    store_free(w.s);
    w.s = NULL;
    CHECK_EQ(sql_count(&w, "SELECT count(*) FROM layer"), 1);
    CHECK_EQ(sql_count(&w, "SELECT count(*) FROM chunk"), 1);
    CHECK_EQ(sql_count(&w, "SELECT count(*) FROM record"), 2);
    buf_fini(&b);
    world_fini(&w);
}

TEST(long_chains_of_living_forks_are_cut)
{
    char id[16], child[16];
    struct buf b;
    struct world w;

    buf_init(&b, SIZE_MAX / 4);
    world_init(&w, NULL);
    CHECK_EQ(new_session(w.s, "s0"), 0);
    for (unsigned i = 0; i < 600; i++)
        add_inode(&b, 1000 + i, S_IFREG, i);
    for (unsigned i = 0; i < 40; i++) {
        (void)snprintf(id, sizeof id, "s%u", i);
        (void)snprintf(child, sizeof child, "s%u", i + 1);
        add_inode(&b, 2 + i, S_IFREG, i);
        if (i > 1) {
            struct record_key k = inode_key(2 + i - 2);
            add_delete(&b, &k);
        }
        CHECK_EQ(commit_frames(w.s, id, &b), 0);
        CHECK_EQ(fork_session(w.s, id, child), 0);
    }
    world_tidy(&w);
    for (unsigned i = 0; i < 40; i++) {
        (void)snprintf(id, sizeof id, "s%u", i);
        CHECK_EQ(count_records(w.s, id), i ? 602 : 601);
        CHECK_EQ(get(w.s, id).used.inodes, i ? 602 : 601);
    }
    store_free(w.s);
    w.s = NULL;
    CHECK(sql_count(&w, "WITH RECURSIVE up(id, n) AS (SELECT id, 1 FROM layer "
                        "WHERE parent=0 UNION ALL SELECT layer.id, n+1 FROM "
                        "layer JOIN up ON layer.parent=up.id) SELECT max(n) "
                        "FROM up") <= 17);
    buf_fini(&b);
    world_fini(&w);
}

TEST(a_transaction_is_there_as_a_whole_or_not_at_all)
{
    struct world w;

    world_init(&w, NULL);
    CHECK_EQ(store_end(w.s), -EINVAL);
    CHECK_EQ(store_begin(w.s, true), 0);
    CHECK_EQ(store_begin(w.s, true), -EBUSY);
    CHECK_EQ(new_session(w.s, "a"), 0);
    CHECK_EQ(new_session(w.s, "a"), -EEXIST);
    CHECK_EQ(new_session(w.s, "b"), 0);
    store_undo(w.s);
    CHECK_EQ(list(w.s, (struct store_filter){0}), 0);
    CHECK_EQ(store_begin(w.s, false), 0);
    CHECK_EQ(new_session(w.s, "a"), 0);
    CHECK_EQ(new_session(w.s, "a"), -EEXIST);
    CHECK_EQ(store_end(w.s), 0);
    CHECK_EQ(store_sync(w.s), 0);
    world_reopen(&w);
    CHECK_EQ(count_records(w.s, "a"), 0);
    world_fini(&w);
}

TEST(opening_without_memory_fails_cleanly)
{
    struct world w;

    world_init(&w, NULL);
    EACH_OOM(oom) {
        char why[STORE_WHY_BYTES] = "";
        struct store *s = NULL;
        store_free(w.s);
        w.s = NULL;
        int r = store_open(w.dir, NULL, why, &s);
        CHECK(r == 0 || (r == -ENOMEM && *why));
        w.s = s;
    }
    world_fini(&w);
}
