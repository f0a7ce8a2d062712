/* The file functions, on a sandbox without a root image. */
#include "lib_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
put(struct wsand_sandbox *sb, const char *path, const char *text)
{
    struct wsand_write w = {
        .size = sizeof w, .path = path, .data = text, .len = strlen(text)};

    return wsand_file_write(sb, &w, NULL);
}

static bool
has(struct wsand_sandbox *sb, const char *path, const char *text)
{
    void *data = NULL;
    size_t len = 0;

    int r = wsand_file_read(sb, path, 0, WSAND_ALL, &data, &len, NULL);
    bool is = r == 0 && len == strlen(text) && !memcmp(data, text, len);
    free(data);
    return is;
}

static struct wsand_stat
stat_of(struct wsand_sandbox *sb, const char *path)
{
    struct wsand_stat st = {0};

    CHECK_EQ(wsand_file_stat(sb, path, false, &st, NULL), 0);
    return st;
}

TEST(a_written_file_is_read_back_and_belongs_to_the_user)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_EQ(put(l.sb, "/tmp/a", "hello"), 0);
    CHECK(has(l.sb, "/tmp/a", "hello"));
    struct wsand_stat st = stat_of(l.sb, "/tmp/a");
    CHECK_EQ(st.type, WSAND_FILE);
    CHECK_EQ(st.mode, 0644);
    CHECK_EQ(st.uid, 1000);
    CHECK_EQ(st.gid, 1000);
    CHECK_EQ(st.bytes, 5);
    lib_free(&l);
}

TEST(an_empty_file_is_read_as_no_bytes)
{
    LIB_SANDBOX(l, .files = 0);
    void *data = NULL;
    size_t len = 1;
    CHECK_EQ(put(l.sb, "/tmp/a", ""), 0);
    CHECK_EQ(wsand_file_read(l.sb, "/tmp/a", 0, WSAND_ALL, &data, &len, NULL),
             0);
    CHECK(data);
    CHECK_EQ(len, 0);
    free(data);
    lib_free(&l);
}

TEST(a_part_of_a_file_can_be_read)
{
    LIB_SANDBOX(l, .files = 0);
    char *data = NULL;
    size_t len = 0;
    CHECK_EQ(put(l.sb, "/tmp/a", "0123456789"), 0);
    CHECK_EQ(wsand_file_read(l.sb, "/tmp/a", 3, 4, (void **)&data, &len, NULL),
             0);
    CHECK(len == 4 && !memcmp(data, "3456", 4));
    free(data);
    CHECK_EQ(wsand_file_read(l.sb, "/tmp/a", 8, 4, (void **)&data, &len, NULL),
             0);
    CHECK(len == 2 && !memcmp(data, "89", 2));
    free(data);
    CHECK_EQ(wsand_file_read(l.sb, "/tmp/a", UINT64_MAX, 4, (void **)&data,
                             &len, NULL),
             0);
    CHECK_EQ(len, 0);
    free(data);
    lib_free(&l);
}

TEST(a_whole_write_keeps_mode_and_owner_and_follows_links)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_EQ(put(l.sb, "/tmp/a", "one"), 0);
    CHECK_EQ(wsand_file_chmod(l.sb, "/tmp/a", 0600, NULL), 0);
    CHECK_EQ(wsand_file_symlink(l.sb, "a", "/tmp/link", NULL), 0);
    CHECK_EQ(put(l.sb, "/tmp/link", "two"), 0);
    CHECK(has(l.sb, "/tmp/a", "two"));
    CHECK_EQ(stat_of(l.sb, "/tmp/a").mode, 0600);
    CHECK_EQ(stat_of(l.sb, "/tmp/link").type, WSAND_SYMLINK);
    CHECK_EQ(put(l.sb, "/etc/hostname", "x"), 0);
    CHECK_EQ(stat_of(l.sb, "/etc/hostname").uid, 0);
    lib_free(&l);
}

TEST(a_link_to_nothing_is_where_the_new_file_goes)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_EQ(wsand_file_symlink(l.sb, "/workspace/b", "/tmp/link", NULL), 0);
    CHECK_EQ(put(l.sb, "/tmp/link", "x"), 0);
    CHECK(has(l.sb, "/workspace/b", "x"));
    lib_free(&l);
}

TEST(a_file_can_be_appended_to_and_changed_in_the_middle)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_write w = {.size = sizeof w,
                            .path = "/tmp/a",
                            .data = "abc",
                            .len = 3,
                            .append = true,
                            .mode = 0700};
    CHECK_EQ(wsand_file_write(l.sb, &w, NULL), 0);
    CHECK_EQ(wsand_file_write(l.sb, &w, NULL), 0);
    CHECK(has(l.sb, "/tmp/a", "abcabc"));
    CHECK_EQ(stat_of(l.sb, "/tmp/a").mode, 0700);
    w.append = false;
    w.has_offset = true;
    w.offset = 2;
    w.data = "XY";
    w.len = 2;
    CHECK_EQ(wsand_file_write(l.sb, &w, NULL), 0);
    CHECK(has(l.sb, "/tmp/a", "abXYbc"));
    lib_free(&l);
}

TEST(a_write_that_does_not_fit_leaves_the_old_file)
{
    LIB_SANDBOX(l, .file_bytes = 65536);
    struct wsand_error err;
    struct wsand_status before = {.size = sizeof before}, after = before;
    char *big = calloc(1, 100000);
    struct wsand_write w = {
        .size = sizeof w, .path = "/tmp/a", .data = big, .len = 100000};
    CHECK_EQ(put(l.sb, "/tmp/a", "old"), 0);
    CHECK_EQ(wsand_status(l.sb, &before, NULL), 0);
    CHECK_EQ(wsand_file_write(l.sb, &w, &err), -ENOSPC);
    CHECK_STR(err.message, "ENOSPC: file bytes limit reached (max: 65536)");
    CHECK(has(l.sb, "/tmp/a", "old"));
    CHECK_EQ(wsand_status(l.sb, &after, NULL), 0);
    CHECK_EQ(after.files, before.files);
    CHECK_EQ(after.file_bytes, before.file_bytes);
    free(big);
    lib_free(&l);
}

TEST(what_a_file_costs_is_there_for_its_replacement)
{
    static const char data[40000];
    LIB_SANDBOX(l, .files = 1, .file_bytes = 65536);
    struct wsand_error err = {0};
    struct wsand_write w = {
        .size = sizeof w, .path = "/tmp/a", .data = data, .len = sizeof data};
    for (int i = 0; i < 3; i++)
        CHECK_EQ(wsand_file_write(l.sb, &w, &err), 0);
    w.path = "/tmp/b";
    CHECK_EQ(wsand_file_write(l.sb, &w, &err), -ENOSPC);
    CHECK_EQ(wsand_file_rm(l.sb, "/tmp/a", false, &err), 0);
    CHECK_EQ(wsand_file_write(l.sb, &w, &err), 0);
    lib_free(&l);
}

TEST(the_limit_of_files_is_named)
{
    LIB_SANDBOX(l, .files = 3);
    struct wsand_error err = {0};
    char path[32];
    int r = 0;
    for (int i = 0; r == 0 && i < 10; i++) {
        (void)snprintf(path, sizeof path, "/tmp/d%d", i);
        r = wsand_file_mkdir(l.sb, path, 0, false, &err);
    }
    CHECK_EQ(r, -ENOSPC);
    CHECK_STR(err.message, "ENOSPC: file count limit reached (max: 3)");
    lib_free(&l);
}

TEST(errors_begin_with_the_name_of_the_errno)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_error err;
    struct wsand_stat st;
    CHECK_EQ(wsand_file_stat(l.sb, "/nope", false, &st, &err), -ENOENT);
    CHECK_STR(err.message, "ENOENT: no such file or directory: /nope");
    CHECK_EQ(err.errnum, ENOENT);
    CHECK_STR(wsand_error_text(&err), "no such file or directory: /nope");
    CHECK_EQ(wsand_file_stat(l.sb, "nope", false, &st, &err), -ENOENT);
    CHECK_STR(err.message, "ENOENT: no such file or directory: nope");
    CHECK_EQ(wsand_file_stat(l.sb, "", false, &st, NULL), -ENOENT);
    lib_free(&l);
}

static int
put_with_parents(struct wsand_sandbox *sb, const char *path, const char *text,
                 struct wsand_error *err)
{
    struct wsand_write w = {.size = sizeof w,
                            .path = path,
                            .data = text,
                            .len = strlen(text),
                            .parents = true};

    return wsand_file_write(sb, &w, err);
}

TEST(a_write_makes_the_folders_that_lead_to_the_file)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_error err = {0};

    CHECK_EQ(put(l.sb, "/tmp/a/b/f", "x"), -ENOENT);
    CHECK_EQ(put_with_parents(l.sb, "/tmp/a/b/f", "x", NULL), 0);
    CHECK(has(l.sb, "/tmp/a/b/f", "x"));
    CHECK_EQ(stat_of(l.sb, "/tmp/a/b").uid, 1000);
    CHECK_EQ(stat_of(l.sb, "/tmp/a/b").mode, 0755);
    CHECK_EQ(put_with_parents(l.sb, "/tmp/a/b/f", "y", NULL), 0);
    CHECK_EQ(put_with_parents(l.sb, "/f", "y", NULL), 0);
    CHECK_EQ(put_with_parents(l.sb, "/tmp/a/b/f/g", "y", &err), -ENOTDIR);
    CHECK_STR(err.message, "ENOTDIR: not a directory: /tmp/a/b/f/g");
    CHECK_EQ(put_with_parents(l.sb, "/tmp/new/", "y", NULL), -EISDIR);
    lib_free(&l);
}

TEST(without_a_shell_paths_are_relative_to_where_it_will_begin)
{
    LIB_SANDBOX(l, .cwd = "/tmp");
    struct wsand_list list;

    CHECK_EQ(put(l.sb, "f", "x"), 0);
    CHECK(has(l.sb, "/tmp/f", "x"));
    CHECK_EQ(put_with_parents(l.sb, "d/e/f", "y", NULL), 0);
    CHECK(has(l.sb, "./d/../d/e/f", "y"));
    CHECK_EQ(wsand_file_rename(l.sb, "d/e/f", "../g", NULL), 0);
    CHECK(has(l.sb, "/g", "y"));
    CHECK_EQ(wsand_file_symlink(l.sb, "f", "link", NULL), 0);
    CHECK(has(l.sb, "link", "x"));
    CHECK_EQ(wsand_file_chmod(l.sb, "f", 0600, NULL), 0);
    CHECK_EQ(stat_of(l.sb, "/tmp/f").mode, 0600);
    CHECK_EQ(wsand_file_mkdir(l.sb, "x/y", 0, true, NULL), 0);
    CHECK_EQ(wsand_file_list(l.sb, "x", &list, NULL), 0);
    CHECK_EQ(list.n, 1);
    wsand_list_free(&list);
    CHECK_EQ(wsand_file_rm(l.sb, "x", true, NULL), 0);
    CHECK_EQ(put(l.sb, "x/y", ""), -ENOENT);
    lib_free(&l);
}

TEST(the_folder_of_the_shell_must_be_there)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_options o = {.size = sizeof o, .cwd = "/nope"};
    struct wsand_error err = {0};
    struct wsand_sandbox *sb = NULL;

    CHECK_EQ(wsand_sandbox_new(l.rt, &o, &sb, &err), -ENOENT);
    CHECK_STR(err.message, "ENOENT: no such file or directory: /nope");
    o.cwd = "tmp";
    CHECK_EQ(wsand_sandbox_new(l.rt, &o, &sb, &err), -EINVAL);
    CHECK_STR(err.message, "EINVAL: cwd: not an absolute path: tmp");
    lib_free(&l);
}

TEST(only_regular_files_have_contents)
{
    LIB_SANDBOX(l, .files = 0);
    void *data;
    size_t len;
    CHECK_EQ(wsand_file_read(l.sb, "/tmp", 0, 9, &data, &len, NULL), -EISDIR);
    CHECK_EQ(put(l.sb, "/tmp", "x"), -EISDIR);
    CHECK_EQ(put(l.sb, "/tmp/", "x"), -EISDIR);
    CHECK_EQ(put(l.sb, "/tmp/new/", "x"), -EISDIR);
    CHECK_EQ(put(l.sb, "/", "x"), -EISDIR);
    CHECK_EQ(put(l.sb, "/no/a", "x"), -ENOENT);
    CHECK_EQ(put(l.sb, "/etc/passwd/a", "x"), -ENOTDIR);
    CHECK_EQ(wsand_file_read(l.sb, "/dev/zero", 0, 9, &data, &len, NULL),
             -EINVAL);
    CHECK_EQ(put(l.sb, "/dev/null", "x"), -EINVAL);
    lib_free(&l);
}

TEST(long_paths_are_refused)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_stat st;
    char *path = malloc(10001);
    memset(path, '/', 10000);
    path[10000] = 0;
    CHECK_EQ(wsand_file_stat(l.sb, path, false, &st, NULL), -ENAMETOOLONG);
    memset(path + 1, 'x', 300);
    path[301] = 0;
    CHECK_EQ(put(l.sb, path, "x"), -ENAMETOOLONG);
    free(path);
    lib_free(&l);
}

TEST(proc_can_be_read_and_listed)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_list list = {0};
    struct wsand_stat st;
    char *data = NULL;
    size_t len = 0;
    CHECK_EQ(wsand_file_read(l.sb, "/proc/1/status", 0, WSAND_ALL,
                             (void **)&data, &len, NULL),
             0);
    CHECK(len > 10);
    free(data);
    CHECK_EQ(wsand_file_list(l.sb, "/proc", &list, NULL), 0);
    CHECK(list.n > 5);
    wsand_list_free(&list);
    CHECK(wsand_file_stat(l.sb, "/proc/self/status", true, &st, NULL) < 0);
    CHECK(wsand_file_list(l.sb, "/proc/1/fd", &list, NULL) == 0);
    wsand_list_free(&list);
    CHECK(put(l.sb, "/proc/x", "x") < 0);
    CHECK(wsand_file_rm(l.sb, "/proc/1", true, NULL) < 0);
    lib_free(&l);
}

TEST(a_list_is_sorted_and_says_what_is_there)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_list list = {0};
    CHECK_EQ(put(l.sb, "/workspace/b", "1234"), 0);
    CHECK_EQ(wsand_file_mkdir(l.sb, "/workspace/c", 0, false, NULL), 0);
    CHECK_EQ(wsand_file_symlink(l.sb, "b", "/workspace/a", NULL), 0);
    CHECK_EQ(wsand_file_list(l.sb, "/workspace", &list, NULL), 0);
    CHECK_EQ(list.n, 3);
    if (list.n == 3) {
        CHECK_STR(list.v[0].name, "a");
        CHECK_EQ(list.v[0].stat.type, WSAND_SYMLINK);
        CHECK_STR(list.v[1].name, "b");
        CHECK_EQ(list.v[1].stat.bytes, 4);
        CHECK_STR(list.v[2].name, "c");
        CHECK_EQ(list.v[2].stat.type, WSAND_DIR);
    }
    wsand_list_free(&list);
    CHECK_EQ(wsand_file_list(l.sb, "/workspace/b", &list, NULL), -ENOTDIR);
    lib_free(&l);
}

TEST(mkdir_makes_parents_when_asked)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_EQ(wsand_file_mkdir(l.sb, "/tmp/a/b/c", 0, false, NULL), -ENOENT);
    CHECK_EQ(wsand_file_mkdir(l.sb, "//tmp//a/b/c/", 0700, true, NULL), 0);
    CHECK_EQ(wsand_file_mkdir(l.sb, "/tmp/a/b/c", 0, true, NULL), 0);
    CHECK_EQ(wsand_file_mkdir(l.sb, "/tmp/a", 0, false, NULL), -EEXIST);
    CHECK_EQ(stat_of(l.sb, "/tmp/a/b/c").mode, 0700);
    CHECK_EQ(stat_of(l.sb, "/tmp/a/b").uid, 1000);
    CHECK_EQ(put(l.sb, "/tmp/f", ""), 0);
    CHECK_EQ(wsand_file_mkdir(l.sb, "/tmp/f", 0, true, NULL), -EEXIST);
    CHECK_EQ(wsand_file_mkdir(l.sb, "/tmp/f/x", 0, true, NULL), -EEXIST);
    CHECK_EQ(wsand_file_mkdir(l.sb, "/", 0, true, NULL), 0);
    lib_free(&l);
}

TEST(rm_takes_folders_only_when_empty_or_recursive)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_status before = {.size = sizeof before}, after = before;
    struct wsand_stat st;
    CHECK_EQ(wsand_status(l.sb, &before, NULL), 0);
    CHECK_EQ(wsand_file_mkdir(l.sb, "/tmp/a/b", 0, true, NULL), 0);
    CHECK_EQ(put(l.sb, "/tmp/a/b/f", "x"), 0);
    CHECK_EQ(wsand_file_symlink(l.sb, "/etc", "/tmp/a/etc", NULL), 0);
    CHECK_EQ(wsand_file_rm(l.sb, "/tmp/a", false, NULL), -ENOTEMPTY);
    CHECK_EQ(wsand_file_rm(l.sb, "/tmp/a", true, NULL), 0);
    CHECK_EQ(wsand_file_rm(l.sb, "/tmp/a", true, NULL), -ENOENT);
    CHECK_EQ(wsand_file_stat(l.sb, "/etc/passwd", false, &st, NULL), 0);
    CHECK_EQ(wsand_file_rm(l.sb, "/", true, NULL), -EBUSY);
    CHECK_EQ(wsand_file_rm(l.sb, "/dev", true, NULL), -EBUSY);
    CHECK_EQ(wsand_status(l.sb, &after, NULL), 0);
    CHECK_EQ(after.files, before.files);
    CHECK_EQ(after.file_bytes, before.file_bytes);
    lib_free(&l);
}

/* Each level is made inside the last one, which is then moved. */
TEST(rm_does_not_care_how_deep_a_tree_is)
{
    LIB_SANDBOX(l, .files = 10000);
    struct wsand_stat st;
    CHECK_EQ(wsand_file_mkdir(l.sb, "/tmp/a", 0, true, NULL), 0);
    for (int i = 0; i < 4000; i++) {
        CHECK_EQ(wsand_file_mkdir(l.sb, "/tmp/n", 0, true, NULL), 0);
        CHECK_EQ(wsand_file_rename(l.sb, "/tmp/a", "/tmp/n/a", NULL), 0);
        CHECK_EQ(wsand_file_rename(l.sb, "/tmp/n", "/tmp/a", NULL), 0);
    }
    CHECK_EQ(wsand_file_rm(l.sb, "/tmp/a", true, NULL), 0);
    CHECK_EQ(wsand_file_stat(l.sb, "/tmp/a", false, &st, NULL), -ENOENT);
    lib_free(&l);
}

TEST(rename_and_chmod)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_EQ(put(l.sb, "/tmp/a", "x"), 0);
    CHECK_EQ(wsand_file_rename(l.sb, "/tmp/a", "/home/user/b", NULL), 0);
    CHECK(has(l.sb, "/home/user/b", "x"));
    CHECK_EQ(wsand_file_rename(l.sb, "/tmp/a", "/tmp/b", NULL), -ENOENT);
    CHECK_EQ(wsand_file_rename(l.sb, "/home/user/b", "/dev/b", NULL), -EXDEV);
    CHECK_EQ(wsand_file_chmod(l.sb, "/home/user/b", 04755, NULL), 0);
    CHECK_EQ(stat_of(l.sb, "/home/user/b").mode, 04755);
    CHECK_EQ(wsand_file_chmod(l.sb, "/nope", 0, NULL), -ENOENT);
    lib_free(&l);
}

TEST(symlinks_stay_inside_and_loops_are_seen)
{
    LIB_SANDBOX(l, .files = 0);
    void *data;
    size_t len;
    CHECK_EQ(wsand_file_symlink(l.sb, "/../../../etc", "/tmp/up", NULL), 0);
    CHECK(stat_of(l.sb, "/tmp/up/hostname").bytes == 8);
    CHECK_EQ(wsand_file_symlink(l.sb, "loop", "/tmp/loop", NULL), 0);
    CHECK_EQ(wsand_file_read(l.sb, "/tmp/loop", 0, 1, &data, &len, NULL),
             -ELOOP);
    CHECK_EQ(put(l.sb, "/tmp/loop", "x"), -ELOOP);
    CHECK_EQ(wsand_file_symlink(l.sb, "", "/tmp/e", NULL), -ENOENT);
    CHECK_EQ(wsand_file_symlink(l.sb, "x", "/tmp/up", NULL), -EEXIST);
    lib_free(&l);
}

TEST(a_huge_sparse_file_is_read_only_in_parts)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_write w = {.size = sizeof w,
                            .path = "/tmp/a",
                            .data = "x",
                            .len = 1,
                            .has_offset = true,
                            .offset = UINT64_C(1) << 40};
    char *data = NULL;
    size_t len;
    CHECK_EQ(wsand_file_write(l.sb, &w, NULL), 0);
    CHECK_EQ(wsand_file_read(l.sb, "/tmp/a", 0, WSAND_ALL, (void **)&data, &len,
                             NULL),
             -EFBIG);
    CHECK_EQ(wsand_file_read(l.sb, "/tmp/a", (UINT64_C(1) << 40) - 1, WSAND_ALL,
                             (void **)&data, &len, NULL),
             0);
    CHECK(len == 2 && data[1] == 'x');
    free(data);
    lib_free(&l);
}

static void
with_mount(bool is_writable)
{
    char dir[] = "/tmp/wsand-lib-XXXXXX", file[64];
    CHECK(mkdtemp(dir) != NULL);
    struct wsand_mount m = {.host_path = dir,
                            .guest_path = "/mnt/host",
                            .is_writable = is_writable};
    LIB_SANDBOX(l, .mounts = &m, .n_mounts = 1);
    int want = is_writable ? 0 : -EROFS;
    (void)snprintf(file, sizeof file, "%s/seen", dir);
    FILE *f = fopen(file, "w");
    if (f) {
        (void)fputs("host", f);
        (void)fclose(f);
    }
    CHECK(has(l.sb, "/mnt/host/seen", "host"));
    CHECK_EQ(put(l.sb, "/mnt/host/seen", "new"), want);
    CHECK(has(l.sb, "/mnt/host/seen", is_writable ? "new" : "host"));
    CHECK_EQ(wsand_file_mkdir(l.sb, "/mnt/host/d/e", 0, true, NULL), want);
    CHECK_EQ(put(l.sb, "/mnt/host/x", "y"), want);
    CHECK_EQ(wsand_file_chmod(l.sb, "/mnt/host/seen", 0600, NULL), want);
    CHECK_EQ(wsand_file_rm(l.sb, "/mnt/host", true, NULL), -EBUSY);
    CHECK_EQ(wsand_file_rm(l.sb, "/mnt/host/seen", false, NULL), want);
    if (is_writable) {
        CHECK_EQ(wsand_file_rm(l.sb, "/mnt/host/d", true, NULL), 0);
        CHECK_EQ(wsand_file_rm(l.sb, "/mnt/host/x", true, NULL), 0);
    }
    (void)unlink(file);
    CHECK_EQ(rmdir(dir), 0);
    lib_free(&l);
}

TEST(a_read_only_mount_is_not_changed)
{
    with_mount(false);
}

TEST(a_writable_mount_is_changed)
{
    with_mount(true);
}
