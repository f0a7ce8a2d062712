/* Functions on paths: results and errors. */
#include "raw.h"

static uint32_t dir, fd, n;
static struct filestat st;

static void
test_open(void)
{
    IS(open_in(dir, "none", 0, R_READ, &fd), NOENT);
    IS(open_in(dir, "", 0, R_READ, &fd), NOENT);
    OK(open_in(dir, "f", CREAT | EXCL, R_READ | R_WRITE, &fd));
    OK(write_text(fd, "text"));
    OK(fd_close(fd));
    IS(open_in(dir, "f", CREAT | EXCL, R_READ, &fd), EXIST);
    IS(open_in(dir, "f", O_DIR, R_READ, &fd), NOTDIR);
    IS(open_in(dir, "f/", 0, R_READ, &fd), NOTDIR);
    IS(open_in(dir, "f/x", 0, R_READ, &fd), NOTDIR);
    IS(open_in(dir, "d", CREAT | O_DIR, R_READ, &fd), INVAL);
    IS(open_in(dir, "f", 16, R_READ, &fd), INVAL);
    IS(open_in(dir, ".", 0, R_WRITE, &fd), ISDIR);
    IS(open_in(dir, ".", O_DIR, R_READ | R_WRITE, &fd), ISDIR);
    OK(open_in(dir, ".", O_DIR, R_READ, &fd));
    OK(fd_close(fd));
    OK(open_in(dir, ".", O_DIR, 0, &fd));
    OK(fd_close(fd));
    IS(path_open(dir, 2, S("f"), 0, R_READ, 0, 0, P(&fd)), INVAL);
    IS(path_open(dir, 0, S("f"), 0, R_READ, 0, 32, P(&fd)), INVAL);
    IS(path_open(dir, 0, S("f"), 0, R_READ, 0, 0, BAD), FAULT);
    IS(path_open(dir, 0, BAD, 64, 0, R_READ, 0, 0, P(&fd)), FAULT);
    IS(path_open(dir, 0, 0, 5000, 0, R_READ, 0, 0, P(&fd)), NAMETOOLONG);
    IS(path_open(dir, 0, P("a\0b"), 3, 0, R_READ, 0, 0, P(&fd)), INVAL);
    IS(open_in(99, "f", 0, R_READ, &fd), BADF);
    IS(open_in(0, "f", 0, R_READ, &fd), NOTDIR);
    OK(open_in(dir, "f", TRUNC, R_WRITE | R_FSTAT, &fd));
    OK(fd_filestat_get(fd, P(&st)));
    CHECK(st.size == 0);
    OK(fd_close(fd));
    OK(path_open(dir, 0, S("f"), 0, R_WRITE, 0, APPEND | SYNC, P(&fd)));
    struct fdstat s;
    OK(fd_fdstat_get(fd, P(&s)));
    CHECK((s.flags & (APPEND | SYNC)) == (APPEND | SYNC));
    OK(fd_close(fd));
}

static void
test_directories(void)
{
    OK(path_create_directory(dir, S("d")));
    IS(path_create_directory(dir, S("d")), EXIST);
    IS(path_create_directory(dir, S("no/d")), NOENT);
    IS(path_create_directory(dir, BAD, 64), FAULT);
    IS(path_create_directory(99, S("e")), BADF);
    make_file(dir, "d/in", "");
    IS(path_remove_directory(dir, S("d")), NOTEMPTY);
    IS(path_remove_directory(dir, S("f")), NOTDIR);
    IS(path_unlink_file(dir, S("d")), ISDIR);
    OK(path_unlink_file(dir, S("d/in")));
    OK(path_remove_directory(dir, S("d/")));
    IS(path_remove_directory(dir, S("d")), NOENT);
    IS(path_unlink_file(dir, S("d")), NOENT);
    IS(path_unlink_file(dir, BAD, 64), FAULT);
    IS(path_remove_directory(99, S("d")), BADF);
}

static void
test_stat(void)
{
    OK(path_filestat_get(dir, 0, S("f"), P(&st)));
    CHECK(st.type == REGULAR && st.nlink == 1);
    OK(path_filestat_get(dir, 0, S("."), P(&st)));
    CHECK(st.type == DIRECTORY);
    IS(path_filestat_get(dir, 0, S("none"), P(&st)), NOENT);
    IS(path_filestat_get(dir, 2, S("f"), P(&st)), INVAL);
    IS(path_filestat_get(dir, 0, S("f"), BAD), FAULT);
    OK(path_filestat_set_times(dir, 0, S("f"), 1000, 2000, 1 | 4));
    OK(path_filestat_get(dir, 0, S("f"), P(&st)));
    CHECK(st.atim == 1000 && st.mtim == 2000);
    OK(path_filestat_set_times(dir, 0, S("f"), 0, 0, 8));
    OK(path_filestat_get(dir, 0, S("f"), P(&st)));
    CHECK(st.atim == 1000 && st.mtim > 2000);
    IS(path_filestat_set_times(dir, 0, S("f"), 0, 0, 3), INVAL);
    IS(path_filestat_set_times(dir, 0, S("none"), 0, 0, 2), NOENT);
    OK(path_filestat_get(3, 0, S("dev/null"), P(&st)));
    CHECK(st.type == CHARACTER);
}

static void
test_link_and_rename(void)
{
    OK(path_link(dir, 0, S("f"), dir, S("hard")));
    OK(path_filestat_get(dir, 0, S("hard"), P(&st)));
    CHECK(st.nlink == 2);
    IS(path_link(dir, 0, S("f"), dir, S("hard")), EXIST);
    IS(path_link(dir, 0, S("none"), dir, S("x")), NOENT);
    IS(path_link(dir, 0, S("."), dir, S("x")), PERM);
    IS(path_link(dir, 2, S("f"), dir, S("x")), INVAL);
    OK(path_rename(dir, S("hard"), dir, S("moved")));
    IS(path_filestat_get(dir, 0, S("hard"), P(&st)), NOENT);
    OK(path_filestat_get(dir, 0, S("moved"), P(&st)));
    IS(path_rename(dir, S("none"), dir, S("x")), NOENT);
    IS(path_rename(dir, S("moved"), 99, S("x")), BADF);
    IS(path_rename(dir, BAD, 64, dir, S("x")), FAULT);
    IS(path_rename(dir, S("moved"), dir, BAD, 64), FAULT);
    OK(path_create_directory(dir, S("d")));
    IS(path_rename(dir, S("moved"), dir, S("d")), ISDIR);
    IS(path_rename(dir, S("d"), dir, S("moved")), NOTDIR);
    IS(path_rename(dir, S("d"), dir, S("d/d")), INVAL);
    OK(path_rename(dir, S("d"), dir, S("e")));
    OK(path_unlink_file(dir, S("moved")));
}

static void
test_symlink(void)
{
    char buf[16] = "................";

    OK(path_symlink(S("f"), dir, S("link")));
    IS(path_symlink(S("f"), dir, S("link")), EXIST);
    IS(path_symlink(S(""), dir, S("x")), NOENT);
    IS(path_symlink(BAD, 64, dir, S("x")), FAULT);
    OK(path_readlink(dir, S("link"), P(buf), sizeof buf, P(&n)));
    CHECK(n == 1 && buf[0] == 'f' && buf[1] == '.');
    OK(path_symlink(S("target"), dir, S("long")));
    OK(path_readlink(dir, S("long"), P(buf), 3, P(&n)));
    CHECK(n == 3 && !memcmp(buf, "tar.", 4));
    IS(path_readlink(dir, S("f"), P(buf), 3, P(&n)), INVAL);
    IS(path_readlink(dir, S("none"), P(buf), 3, P(&n)), NOENT);
    IS(path_readlink(dir, S("link"), BAD, 64, P(&n)), FAULT);
    IS(path_readlink(dir, S("link"), P(buf), 3, BAD), FAULT);
    OK(path_filestat_get(dir, 0, S("link"), P(&st)));
    CHECK(st.type == SYMLINK);
    OK(path_filestat_get(dir, FOLLOW, S("link"), P(&st)));
    CHECK(st.type == REGULAR);
    IS(path_open(dir, 0, S("link"), 0, R_READ, 0, 0, P(&fd)), LOOP);
    OK(path_open(dir, FOLLOW, S("link"), 0, R_READ, 0, 0, P(&fd)));
    OK(fd_close(fd));
    OK(path_symlink(S("loop"), dir, S("loop")));
    IS(open_in(dir, "loop", 0, R_READ, &fd), LOOP);
    OK(path_link(dir, FOLLOW, S("link"), dir, S("of_file")));
    OK(path_filestat_get(dir, 0, S("of_file"), P(&st)));
    CHECK(st.type == REGULAR);
    OK(path_link(dir, 0, S("link"), dir, S("of_link")));
    OK(path_filestat_get(dir, 0, S("of_link"), P(&st)));
    CHECK(st.type == SYMLINK);
}

int
main(void)
{
    dir = scratch("raw_path");
    test_open();
    test_directories();
    test_stat();
    test_link_and_rename();
    test_symlink();
    return failures != 0;
}
