/* Folders that may be written, from outside. */
#include "lib_test.h"

#include <errno.h>

static int
put(struct wsand_sandbox *sb, const char *path, struct wsand_error *err)
{
    struct wsand_write w = {
        .size = sizeof w, .path = path, .data = "x", .len = 1};

    return wsand_file_write(sb, &w, err);
}

TEST(the_functions_of_files_write_where_programs_may)
{
    const char *paths[] = {"/data/deep", "/tmp", NULL};
    LIB_SANDBOX(l, .writable_paths = paths);
    struct wsand_error err;
    CHECK_EQ(put(l.sb, "/data/deep/f", NULL), 0);
    CHECK_EQ(put(l.sb, "/tmp/f", NULL), 0);
    CHECK_EQ(put(l.sb, "/data/f", &err), -EROFS);
    CHECK_STR(err.message, "EROFS: read-only file system: /data/f");
    CHECK_EQ(wsand_file_mkdir(l.sb, "/x", 0, false, NULL), -EROFS);
    CHECK_EQ(wsand_file_chmod(l.sb, "/home", 0700, NULL), -EROFS);
    CHECK_EQ(wsand_file_rename(l.sb, "/tmp/f", "/data/deep/g", NULL), -EXDEV);
    CHECK_EQ(wsand_file_rename(l.sb, "/tmp/f", "/f", NULL), -EXDEV);
    CHECK_EQ(wsand_file_rm(l.sb, "/home", true, NULL), -EROFS);
    CHECK_EQ(wsand_file_rm(l.sb, "/tmp", true, NULL), -EROFS);
    CHECK_EQ(wsand_file_symlink(l.sb, "/", "/l", NULL), -EROFS);
    lib_free(&l);
}

TEST(with_an_empty_list_nothing_can_be_written)
{
    const char *paths[] = {NULL};
    LIB_SANDBOX(l, .writable_paths = paths);
    CHECK_EQ(put(l.sb, "/tmp/f", NULL), -EROFS);
    lib_free(&l);
}

TEST(the_root_in_the_list_is_everything)
{
    const char *paths[] = {"/data", "/", NULL};
    LIB_SANDBOX(l, .writable_paths = paths);
    CHECK_EQ(put(l.sb, "/tmp/f", NULL), 0);
    lib_free(&l);
}

TEST(a_writable_path_must_be_a_folder)
{
    const char *relative[] = {"tmp", NULL}, *file[] = {"/etc/passwd", NULL};
    LIB_SANDBOX(l, .files = 0);
    struct wsand_options o = {.size = sizeof o, .writable_paths = relative};
    struct wsand_sandbox *sb = NULL;
    struct wsand_error err;
    CHECK_EQ(wsand_sandbox_new(l.rt, &o, &sb, &err), -EINVAL);
    CHECK_STR(err.message, "EINVAL: writable path tmp: not an absolute path");
    o.writable_paths = file;
    CHECK_EQ(wsand_sandbox_new(l.rt, &o, &sb, &err), -ENOTDIR);
    CHECK_STR(err.message,
              "ENOTDIR: writable path /etc/passwd: Not a directory");
    lib_free(&l);
}
