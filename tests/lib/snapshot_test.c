/* Snapshots of a sandbox without a shell. */
#include "lib_test.h"

#include <errno.h>
#include <stdlib.h>

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
