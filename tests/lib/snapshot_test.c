/* Snapshots of a sandbox without a shell. */
#include "lib_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
make(struct wsand_sandbox *sb, const char *path)
{
    return wsand_file_mkdir(sb, path, 0, false, NULL);
}

TEST(files_come_back)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_stat st;
    uint64_t a, b;
    CHECK_EQ(make(l.sb, "/tmp/a"), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &a, NULL), 0);
    CHECK_EQ(make(l.sb, "/tmp/b"), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &b, NULL), 0);
    CHECK_EQ(wsand_snapshot_restore(l.sb, a, NULL), 0);
    CHECK_EQ(wsand_file_stat(l.sb, "/tmp/b", false, &st, NULL), -ENOENT);
    CHECK_EQ(wsand_snapshot_restore(l.sb, b, NULL), 0);
    CHECK_EQ(wsand_file_stat(l.sb, "/tmp/b", false, &st, NULL), 0);
    CHECK_EQ(wsand_reset(l.sb, NULL), 0);
    CHECK_EQ(wsand_file_stat(l.sb, "/tmp/a", false, &st, NULL), -ENOENT);
    CHECK_EQ(wsand_file_stat(l.sb, "/dev/null", false, &st, NULL), 0);
    CHECK_EQ(wsand_file_stat(l.sb, "/proc/1/stat", false, &st, NULL), 0);
    lib_free(&l);
}

TEST(snapshots_are_listed_deleted_and_limited)
{
    LIB_SANDBOX(l, .snapshots = 2);
    struct wsand_status status = {.size = sizeof status};
    struct wsand_error err;
    uint64_t a, b, c, *ids;
    size_t n;
    CHECK_EQ(wsand_snapshot_create(l.sb, &a, NULL), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &b, NULL), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &c, &err), -ENOSPC);
    CHECK_STR(err.message, "ENOSPC: snapshot limit reached (max: 2)");
    CHECK_EQ(wsand_snapshot_delete(l.sb, a, NULL), 0);
    CHECK_EQ(wsand_snapshot_delete(l.sb, a, &err), -ENOENT);
    CHECK_EQ(wsand_snapshot_restore(l.sb, a, NULL), -ENOENT);
    CHECK_EQ(wsand_snapshot_create(l.sb, &c, NULL), 0);
    CHECK(c > b && b > a);
    CHECK_EQ(wsand_snapshot_list(l.sb, &ids, &n, NULL), 0);
    CHECK(n == 2 && ids[0] == b && ids[1] == c);
    free(ids);
    CHECK_EQ(wsand_status(l.sb, &status, NULL), 0);
    CHECK_EQ(status.snapshots, 2);
    CHECK_EQ(status.max.snapshots, 2);
    lib_free(&l);
}

TEST(what_needs_a_shell_says_so)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_run run = {
        .size = sizeof run, .command = "true", .command_len = 4};
    struct wsand_output out = {.size = sizeof out};
    char *value;
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), -ENOEXEC);
    CHECK_EQ(wsand_env_get(l.sb, "A", &value, NULL), -ENOEXEC);
    lib_free(&l);
}

TEST(a_wrong_environment_is_refused)
{
    struct lib l;
    const char *env[] = {"A", NULL};
    struct wsand_options o = {.size = sizeof o};
    struct wsand_error err;
    lib_new(&l, &o);
    struct wsand_sandbox *sb = NULL;
    o.env = env;
    CHECK_EQ(wsand_sandbox_new(l.rt, &o, &sb, &err), -EINVAL);
    CHECK_STR(err.message, "EINVAL: not NAME=VALUE: A");
    lib_free(&l);
}

static int
write_bytes(struct wsand_sandbox *sb, const char *path, size_t len, char c)
{
    char *data = malloc(len);
    struct wsand_write w = {
        .size = sizeof w, .path = path, .data = data, .len = len};

    memset(data, c, len);
    int r = wsand_file_write(sb, &w, NULL);
    free(data);
    return r;
}

TEST(what_snapshots_keep_is_limited)
{
    LIB_SANDBOX(l, .snapshot_bytes = 3 << 20);
    struct wsand_error err;
    uint64_t id, first = 0;
    CHECK_EQ(write_bytes(l.sb, "/tmp/f", 2 << 20, 'a'), 0);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(wsand_snapshot_create(l.sb, first ? &id : &first, NULL), 0);
    CHECK_EQ(write_bytes(l.sb, "/tmp/f", 2 << 20, 'b'), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(write_bytes(l.sb, "/tmp/f", 2 << 20, 'c'), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, &err), -ENOSPC);
    CHECK_STR(err.message,
              "ENOSPC: snapshot bytes limit reached (max: 3145728)");
    CHECK_EQ(err.error_class, WSAND_LIMIT_EXCEEDED);
    for (uint64_t i = 0; i < 20; i++)
        CHECK_EQ(wsand_snapshot_delete(l.sb, first + i, NULL), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    lib_free(&l);
}

TEST(deleting_between_two_snapshots_counts_what_is_kept)
{
    LIB_SANDBOX(l, .snapshot_bytes = 3 << 20);
    uint64_t a, b, c, id;
    CHECK_EQ(write_bytes(l.sb, "/tmp/a", 2 << 20, 'a'), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &a, NULL), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &b, NULL), 0);
    CHECK_EQ(wsand_file_rm(l.sb, "/tmp/a", false, NULL), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &c, NULL), 0);
    CHECK_EQ(wsand_snapshot_delete(l.sb, b, NULL), 0);
    CHECK_EQ(write_bytes(l.sb, "/tmp/b", 2 << 20, 'b'), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &b, NULL), 0);
    CHECK_EQ(wsand_file_rm(l.sb, "/tmp/b", false, NULL), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), -ENOSPC);
    CHECK_EQ(wsand_snapshot_delete(l.sb, a, NULL), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    lib_free(&l);
}

/* --- /dev/shm */

static bool
has(struct wsand_sandbox *sb, const char *path)
{
    struct wsand_stat st;

    return wsand_file_stat(sb, path, false, &st, NULL) == 0;
}

TEST(shared_memory_is_copied_by_forks_and_snapshots)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *fork;
    uint64_t id;
    CHECK_EQ(write_bytes(l.sb, "/dev/shm/a", 5000, 'a'), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    CHECK_EQ(wsand_file_rm(l.sb, "/dev/shm/a", false, NULL), 0);
    CHECK_EQ(write_bytes(l.sb, "/dev/shm/b", 5000, 'b'), 0);
    CHECK(has(fork, "/dev/shm/a") && !has(fork, "/dev/shm/b"));
    CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
    CHECK(has(l.sb, "/dev/shm/a") && !has(l.sb, "/dev/shm/b"));
    CHECK_EQ(wsand_reset(l.sb, NULL), 0);
    CHECK(!has(l.sb, "/dev/shm/a"));
    wsand_sandbox_free(fork);
    lib_free(&l);
}

/* A mount that is added later does not move the files. */
TEST(shared_memory_stays_where_it_is_beside_other_mounts)
{
    LIB_SANDBOX(l, .files = 0);
    const struct wsand_file file = {.path = "f", .data = "x", .len = 1};
    const struct wsand_mount m = {.guest_path = "/mnt",
                                  .files = &file,
                                  .n_files = 1,
                                  .is_writable = true};
    uint64_t id;
    CHECK_EQ(write_bytes(l.sb, "/dev/shm/a", 5000, 'a'), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_mount(l.sb, &m, NULL), 0);
    CHECK_EQ(wsand_file_rm(l.sb, "/dev/shm/a", false, NULL), 0);
    CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
    CHECK(has(l.sb, "/dev/shm/a") && has(l.sb, "/mnt/f"));
    lib_free(&l);
}

static int
count_record(void *arg, const void *key, size_t key_len, const void *value,
             size_t len)
{
    (void)key, (void)key_len, (void)value, (void)len;
    ++*(size_t *)arg;
    return 0;
}

TEST(shared_memory_is_not_durable)
{
    LIB_SANDBOX(l, .files = 0);
    size_t records = 0, len;
    const struct wsand_sink to = {count_record, &records};
    uint64_t id;
    void *data;
    CHECK_EQ(wsand_state_changes(l.sb, &to, false, NULL), 0);
    records = 0;
    CHECK_EQ(write_bytes(l.sb, "/dev/shm/a", 5000, 'a'), 0);
    CHECK_EQ(wsand_state_changes(l.sb, &to, false, NULL), 0);
    CHECK_EQ(records, 0);
    CHECK_EQ(write_bytes(l.sb, "/tmp/a", 5000, 'a'), 0);
    CHECK_EQ(wsand_state_changes(l.sb, &to, false, NULL), 0);
    CHECK(records > 0);
    /* A snapshot as bytes has only files that last. */
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_snapshot_save(l.sb, id, &data, &len, NULL), 0);
    CHECK_EQ(wsand_snapshot_load(l.sb, data, len, &id, NULL), 0);
    CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
    CHECK(has(l.sb, "/tmp/a") && !has(l.sb, "/dev/shm/a"));
    free(data);
    lib_free(&l);
}

TEST(shared_memory_counts_as_memory)
{
    LIB_SANDBOX(l, .memory_bytes = 8 << 20);
    struct wsand_status status = {.size = sizeof status};
    struct wsand_sandbox *fork;
    CHECK_EQ(write_bytes(l.sb, "/dev/shm/big", 5 << 20, 'a'), -ENOSPC);
    CHECK_EQ(write_bytes(l.sb, "/dev/shm/a", 3 << 20, 'a'), 0);
    CHECK_EQ(wsand_status(l.sb, &status, NULL), 0);
    CHECK_EQ(status.memory_bytes, 3 << 20);
    CHECK_EQ(status.file_bytes, 0);
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    CHECK_EQ(wsand_status(fork, &status, NULL), 0);
    CHECK_EQ(status.memory_bytes, 3 << 20);
    CHECK_EQ(wsand_reset(l.sb, NULL), 0);
    CHECK_EQ(wsand_status(l.sb, &status, NULL), 0);
    CHECK_EQ(status.memory_bytes, 0);
    wsand_sandbox_free(fork);
    lib_free(&l);
}
