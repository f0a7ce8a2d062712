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
