/* Mounts: folders of the host, and files. */
#include "lib_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_OF(p, text)                                \
    {                                                   \
        .path = p, .data = text, .len = sizeof text - 1 \
    }

static int
mount_files(struct wsand_sandbox *sb, const char *path, bool is_writable,
            const struct wsand_file *files, size_t n, struct wsand_error *err)
{
    const struct wsand_mount m = {.guest_path = path,
                                  .is_writable = is_writable,
                                  .files = files,
                                  .n_files = n};

    return wsand_mount(sb, &m, err);
}

static int
put(struct wsand_sandbox *sb, const char *path, const char *text)
{
    struct wsand_write w = {
        .size = sizeof w, .path = path, .data = text, .len = strlen(text)};

    return wsand_file_write(sb, &w, NULL);
}

static void
check_file(const char *file, int line, struct wsand_sandbox *sb,
           const char *path, const char *text)
{
    void *data = NULL;
    size_t len = 0;

    int r = wsand_file_read(sb, path, 0, WSAND_ALL, &data, &len, NULL);
    if (!text && r == -ENOENT)
        return;
    if (r < 0 || !text || len != strlen(text) || memcmp(data, text, len))
        test_failed(file, line, path);
    free(data);
}
#define CHECK_FILE(sb, path, text) \
    check_file(__FILE__, __LINE__, sb, path, text)

static const struct wsand_file two[] = {FILE_OF("a", "1"),
                                        FILE_OF("d/e/b", "2")};

TEST(files_can_be_mounted_and_are_read_only)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_status before = {.size = sizeof before}, after = before;
    struct wsand_stat st;
    CHECK_EQ(wsand_file_mkdir(l.sb, "/m", 0, false, NULL), 0);
    CHECK_EQ(wsand_status(l.sb, &before, NULL), 0);
    CHECK_EQ(mount_files(l.sb, "/m", false, two, 2, NULL), 0);
    CHECK_FILE(l.sb, "/m/a", "1");
    CHECK_FILE(l.sb, "/m/d/e/b", "2");
    CHECK_EQ(put(l.sb, "/m/a", "x"), -EROFS);
    CHECK_EQ(put(l.sb, "/m/c", "x"), -EROFS);
    CHECK_EQ(wsand_file_stat(l.sb, "/m/d", false, &st, NULL), 0);
    CHECK(st.type == WSAND_DIR && st.uid == 1000 && st.mode == 0755);
    CHECK_EQ(wsand_status(l.sb, &after, NULL), 0);
    CHECK_EQ(after.files, before.files);
    CHECK_EQ(after.file_bytes, before.file_bytes);
    lib_free(&l);
}

TEST(programs_and_scripts_in_mounts_can_be_executed)
{
    const struct wsand_file files[] = {FILE_OF("s", "#!/bin/sh\n"),
                                       FILE_OF("p", "\0asm\1\0\0\0"),
                                       FILE_OF("t", "text")};
    LIB_SANDBOX(l, .files = 0);
    struct wsand_stat st;
    CHECK_EQ(mount_files(l.sb, "/m", false, files, 3, NULL), 0);
    CHECK_EQ(wsand_file_stat(l.sb, "/m/s", false, &st, NULL), 0);
    CHECK_EQ(st.mode, 0755);
    CHECK_EQ(wsand_file_stat(l.sb, "/m/p", false, &st, NULL), 0);
    CHECK_EQ(st.mode, 0755);
    CHECK_EQ(wsand_file_stat(l.sb, "/m/t", false, &st, NULL), 0);
    CHECK_EQ(st.mode, 0644);
    lib_free(&l);
}

TEST(wrong_files_change_nothing)
{
    static const char *const paths[] = {"",   "/a",  "..",    "a/../b", "a//b",
                                        "a/", "./a", "a/./b", "a/.."};
    LIB_SANDBOX(l, .files = 0);
    struct wsand_error err;
    struct wsand_stat st;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct wsand_file f[] = {FILE_OF("ok", "1"), {.path = paths[i]}};
        CHECK_EQ(mount_files(l.sb, "/m", true, f, 2, &err), -EINVAL);
    }
    CHECK_STR(err.message,
              "EINVAL: not a path below the folder of the mount: a/..");
    const struct wsand_file same[] = {FILE_OF("a", "1"), FILE_OF("a", "2")};
    const struct wsand_file in[] = {FILE_OF("a", "1"), FILE_OF("a/b", "2")};
    const struct wsand_file over[] = {FILE_OF("a/b", "1"), FILE_OF("a", "2")};
    CHECK_EQ(mount_files(l.sb, "/m", true, same, 2, NULL), -EEXIST);
    CHECK_EQ(mount_files(l.sb, "/m", true, in, 2, NULL), -ENOTDIR);
    CHECK_EQ(mount_files(l.sb, "/m", true, over, 2, NULL), -EEXIST);
    CHECK_EQ(mount_files(l.sb, "m", true, two, 2, NULL), -EINVAL);
    CHECK_EQ(wsand_file_stat(l.sb, "/m", false, &st, NULL), -ENOENT);
    lib_free(&l);
}

TEST(nothing_is_mounted_over_another_mount)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_error err;
    CHECK_EQ(mount_files(l.sb, "/m", false, two, 2, NULL), 0);
    CHECK_EQ(mount_files(l.sb, "/m", false, two, 2, &err), -EBUSY);
    CHECK_STR(err.message, "EBUSY: something is mounted there: /m");
    CHECK_EQ(mount_files(l.sb, "/proc", false, two, 2, NULL), -EBUSY);
    CHECK_EQ(mount_files(l.sb, "/", false, two, 2, NULL), -EBUSY);
    CHECK_EQ(mount_files(l.sb, "/m/d", false, two, 2, NULL), 0);
    CHECK_FILE(l.sb, "/m/d/a", "1");
    lib_free(&l);
}

TEST(files_that_can_be_written_count)
{
    LIB_SANDBOX(l, .files = 10, .file_bytes = 64 << 10);
    struct wsand_status before = {.size = sizeof before}, after = before;
    char *text = calloc(1, 40 << 10);
    memset(text, 'x', (40 << 10) - 1);
    CHECK_EQ(wsand_file_mkdir(l.sb, "/m", 0, false, NULL), 0);
    CHECK_EQ(wsand_status(l.sb, &before, NULL), 0);
    CHECK_EQ(mount_files(l.sb, "/m", true, two, 2, NULL), 0);
    CHECK_EQ(wsand_status(l.sb, &after, NULL), 0);
    CHECK_EQ(after.files, before.files + 4);
    CHECK_EQ(after.file_bytes, before.file_bytes + 2);
    CHECK_EQ(put(l.sb, "/m/big", text), 0);
    CHECK_EQ(put(l.sb, "/tmp/big", text), -ENOSPC);
    CHECK_EQ(wsand_file_rm(l.sb, "/m/big", false, NULL), 0);
    CHECK_EQ(put(l.sb, "/tmp/big", text), 0);
    CHECK_EQ(put(l.sb, "/m/big", text), -ENOSPC);
    struct wsand_file big = {.path = "f", .data = text, .len = 40 << 10};
    struct wsand_error err;
    CHECK_EQ(mount_files(l.sb, "/n", true, &big, 1, &err), -ENOSPC);
    CHECK_STR(err.message, "ENOSPC: file bytes limit reached (max: 65536)");
    CHECK_EQ(mount_files(l.sb, "/n", false, &big, 1, NULL), 0);
    free(text);
    lib_free(&l);
}

TEST(forks_have_the_mounted_files_for_themselves)
{
    const struct wsand_mount first = {.guest_path = "/first",
                                      .is_writable = true,
                                      .files = two,
                                      .n_files = 2};
    LIB_SANDBOX(l, .mounts = &first, .n_mounts = 1);
    struct wsand_sandbox *fork = NULL, *again = NULL;
    CHECK_EQ(mount_files(l.sb, "/ro", false, two, 2, NULL), 0);
    CHECK_EQ(mount_files(l.sb, "/rw", true, two, 2, NULL), 0);
    CHECK_EQ(put(l.sb, "/rw/a", "changed"), 0);
    CHECK_EQ(put(l.sb, "/first/n", "new"), 0);
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    CHECK_EQ(put(l.sb, "/rw/a", "later"), 0);
    CHECK_EQ(put(fork, "/rw/f", "fork"), 0);
    CHECK_EQ(wsand_fork(fork, &again, NULL), 0);
    wsand_sandbox_free(fork);
    CHECK_FILE(again, "/rw/a", "changed");
    CHECK_FILE(again, "/rw/f", "fork");
    CHECK_FILE(again, "/first/n", "new");
    CHECK_FILE(again, "/ro/d/e/b", "2");
    CHECK_EQ(put(again, "/ro/a", "x"), -EROFS);
    CHECK_FILE(l.sb, "/rw/f", NULL);
    CHECK_FILE(l.sb, "/rw/a", "later");
    struct wsand_status a = {.size = sizeof a}, b = a;
    CHECK_EQ(wsand_status(l.sb, &a, NULL), 0);
    CHECK_EQ(wsand_status(again, &b, NULL), 0);
    CHECK_EQ(b.files, a.files + 1);
    wsand_sandbox_free(again);
    lib_free(&l);
}

TEST(snapshots_have_the_mounted_files)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_status before = {.size = sizeof before}, after = before;
    uint64_t id;
    CHECK_EQ(mount_files(l.sb, "/rw", true, two, 2, NULL), 0);
    CHECK_EQ(mount_files(l.sb, "/rw/d/sub", true, two, 2, NULL), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_status(l.sb, &before, NULL), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(put(l.sb, "/rw/a", "changed"), 0);
        CHECK_EQ(put(l.sb, "/rw/n", "new"), 0);
        CHECK_EQ(put(l.sb, "/rw/d/sub/n", "new"), 0);
        CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
        CHECK_FILE(l.sb, "/rw/a", "1");
        CHECK_FILE(l.sb, "/rw/n", NULL);
        CHECK_FILE(l.sb, "/rw/d/sub/a", "1");
        CHECK_FILE(l.sb, "/rw/d/sub/n", NULL);
        CHECK_EQ(wsand_status(l.sb, &after, NULL), 0);
        CHECK_EQ(after.files, before.files);
        CHECK_EQ(after.file_bytes, before.file_bytes);
    }
    lib_free(&l);
}

TEST(a_mount_stays_when_a_state_before_it_comes_back)
{
    LIB_SANDBOX(l, .files = 0);
    uint64_t empty, with_file;
    struct wsand_error err;
    CHECK_EQ(wsand_snapshot_create(l.sb, &empty, NULL), 0);
    CHECK_EQ(put(l.sb, "/m", "a file"), 0);
    CHECK_EQ(wsand_snapshot_create(l.sb, &with_file, NULL), 0);
    CHECK_EQ(wsand_file_rm(l.sb, "/m", false, NULL), 0);
    CHECK_EQ(mount_files(l.sb, "/m", true, two, 2, NULL), 0);
    CHECK_EQ(put(l.sb, "/m/n", "new"), 0);
    CHECK_EQ(wsand_snapshot_restore(l.sb, with_file, &err), -EBUSY);
    CHECK_STR(err.message, "EBUSY: a folder is mounted there: /m");
    CHECK_FILE(l.sb, "/m/n", "new");
    CHECK_EQ(wsand_snapshot_restore(l.sb, empty, NULL), 0);
    CHECK_FILE(l.sb, "/m/n", "new");
    CHECK_EQ(put(l.sb, "/tmp/f", "x"), 0);
    CHECK_EQ(wsand_file_rm(l.sb, "/m", true, NULL), -EBUSY);
    CHECK_EQ(wsand_reset(l.sb, NULL), 0);
    CHECK_FILE(l.sb, "/m/n", "new");
    lib_free(&l);
}

TEST(a_host_folder_can_be_mounted_later)
{
    LIB_SANDBOX(l, .files = 0);
    char dir[] = "/tmp/wasmsand-mount-XXXXXX", path[64];
    CHECK(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/f", dir);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs("host", f) > 0 && fclose(f) == 0);
    struct wsand_mount m = {.host_path = dir, .guest_path = "/deep/host"};
    struct wsand_sandbox *fork = NULL;
    struct wsand_error err;
    CHECK_EQ(wsand_mount(l.sb, &m, NULL), 0);
    CHECK_FILE(l.sb, "/deep/host/f", "host");
    CHECK_EQ(put(l.sb, "/deep/host/f", "x"), -EROFS);
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    CHECK_FILE(fork, "/deep/host/f", "host");
    wsand_sandbox_free(fork);
    m.host_path = "/does/not/exist";
    m.guest_path = "/x";
    CHECK_EQ(wsand_mount(l.sb, &m, &err), -ENOENT);
    CHECK_EQ(remove(path), 0);
    CHECK_EQ(remove(dir), 0);
    lib_free(&l);
}

TEST(a_mount_in_a_read_only_tree_is_made)
{
    const char *paths[] = {"/data", NULL};
    LIB_SANDBOX(l, .writable_paths = paths);
    CHECK_EQ(mount_files(l.sb, "/m/n", true, two, 2, NULL), 0);
    CHECK_EQ(put(l.sb, "/m/n/f", "x"), 0);
    CHECK_EQ(put(l.sb, "/m/f", "x"), -EROFS);
    CHECK_EQ(mount_files(l.sb, "/data", false, two, 2, NULL), 0);
    CHECK_FILE(l.sb, "/data/a", "1");
    CHECK_EQ(wsand_reset(l.sb, NULL), 0);
    CHECK_FILE(l.sb, "/data/a", "1");
    lib_free(&l);
}
