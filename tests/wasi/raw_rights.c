/* Rights: what a descriptor lacks is refused, and they only shrink. */
#include "raw.h"

static uint32_t dir, fd, other, n;
static uint64_t pos;
static char buf[64];
static struct filestat st;
static struct fdstat fs;
static struct iovec32 v = {(ptr)0, 0};

/* A descriptor of the file "f" with all rights but these. */
static void
open_without(uint64_t rights)
{
    OK(open_in(dir, "f", 0, R_ALL & ~rights, &fd));
}

static void
test_files(void)
{
    v = (struct iovec32){P(buf), 1};
    open_without(R_READ | R_READDIR);
    IS(fd_read(fd, P(&v), 1, P(&n)), NOTCAPABLE);
    IS(fd_pread(fd, P(&v), 1, 0, P(&n)), NOTCAPABLE);
    OK(fd_write(fd, P(&v), 1, P(&n)));
    OK(fd_close(fd));
    open_without(R_WRITE | R_ALLOCATE);
    IS(fd_write(fd, P(&v), 1, P(&n)), NOTCAPABLE);
    IS(fd_pwrite(fd, P(&v), 1, 0, P(&n)), NOTCAPABLE);
    IS(fd_allocate(fd, 0, 1), NOTCAPABLE);
    IS(fd_filestat_set_size(fd, 1), NOTCAPABLE);
    OK(fd_read(fd, P(&v), 1, P(&n)));
    OK(fd_close(fd));
    open_without(R_SEEK | R_SYNC | R_ADVISE | R_FSTAT | R_FD_TIMES);
    IS(fd_seek(fd, 1, 0, P(&pos)), NOTCAPABLE);
    OK(fd_seek(fd, 0, 1, P(&pos)));
    OK(fd_tell(fd, P(&pos)));
    IS(fd_sync(fd), NOTCAPABLE);
    IS(fd_advise(fd, 0, 0, 0), NOTCAPABLE);
    IS(fd_filestat_get(fd, P(&st)), NOTCAPABLE);
    IS(fd_filestat_set_times(fd, 0, 0, 2), NOTCAPABLE);
    OK(fd_close(fd));
    open_without(R_TELL | R_DATASYNC | R_SET_FLAGS | R_FD_SIZE | R_POLL);
    IS(fd_tell(fd, P(&pos)), NOTCAPABLE);
    IS(fd_datasync(fd), NOTCAPABLE);
    IS(fd_fdstat_set_flags(fd, 0), NOTCAPABLE);
    IS(fd_filestat_set_size(fd, 0), NOTCAPABLE);
    OK(fd_close(fd));
}

/* Takes one right from a descriptor of the directory at a time. */
static uint32_t
without(uint64_t right)
{
    OK(open_in(3, "tmp/raw_rights", O_DIR, R_DIR & ~right, &other));
    return other;
}

static void
test_directories(void)
{
    IS(open_in(without(R_OPEN), "f", 0, R_READ, &fd), NOTCAPABLE);
    IS(open_in(without(R_CREATE), "g", CREAT, R_READ, &fd), NOTCAPABLE);
    IS(open_in(without(R_PATH_SIZE), "f", TRUNC, R_WRITE, &fd), NOTCAPABLE);
    IS(path_create_directory(without(R_MKDIR), S("d")), NOTCAPABLE);
    IS(path_link(without(R_LINK_FROM), 0, S("f"), dir, S("x")), NOTCAPABLE);
    IS(path_link(dir, 0, S("f"), without(R_LINK_TO), S("x")), NOTCAPABLE);
    IS(fd_readdir(without(R_READDIR), P(buf), 64, 0, P(&n)), NOTCAPABLE);
    IS(path_readlink(without(R_READLINK), S("f"), P(buf), 9, P(&n)),
       NOTCAPABLE);
    IS(path_rename(without(R_RENAME_FROM), S("f"), dir, S("x")), NOTCAPABLE);
    IS(path_rename(dir, S("f"), without(R_RENAME_TO), S("x")), NOTCAPABLE);
    IS(path_filestat_get(without(R_STAT), 0, S("f"), P(&st)), NOTCAPABLE);
    IS(path_filestat_set_times(without(R_PATH_TIMES), 0, S("f"), 0, 0, 2),
       NOTCAPABLE);
    IS(path_symlink(S("f"), without(R_SYMLINK), S("x")), NOTCAPABLE);
    IS(path_remove_directory(without(R_RMDIR), S("d")), NOTCAPABLE);
    IS(path_unlink_file(without(R_UNLINK), S("f")), NOTCAPABLE);
    IS(fd_read(dir, P(&v), 1, P(&n)), NOTCAPABLE);
    IS(fd_write(dir, P(&v), 1, P(&n)), NOTCAPABLE);
    IS(fd_seek(dir, 1, 0, P(&pos)), NOTCAPABLE);
    IS(fd_allocate(dir, 0, 1), NOTCAPABLE);
    IS(fd_filestat_set_size(dir, 0), NOTCAPABLE);
}

static void
test_inheriting(void)
{
    OK(path_open(3, 0, S("tmp/raw_rights"), O_DIR, R_DIR, R_READ | R_SEEK, 0,
                 P(&other)));
    OK(fd_fdstat_get(other, P(&fs)));
    CHECK(fs.inheriting == (R_READ | R_SEEK));
    CHECK(fs.type == DIRECTORY && fs.base & R_OPEN && !(fs.base & R_READ));
    IS(open_in(other, "f", 0, R_READ, &fd), NOTCAPABLE);
    IS(path_open(other, 0, S("f"), 0, R_READ | R_WRITE, 0, 0, P(&fd)),
       NOTCAPABLE);
    OK(path_open(other, 0, S("f"), 0, R_READ, 0, 0, P(&fd)));
    OK(fd_fdstat_get(fd, P(&fs)));
    CHECK(fs.base == R_READ && fs.inheriting == 0);
    IS(fd_tell(fd, P(&pos)), NOTCAPABLE);
    OK(fd_close(fd));
}

static void
test_shrinking(void)
{
    OK(open_in(dir, "f", 0, R_READ | R_SEEK | R_TELL, &fd));
    OK(fd_fdstat_set_rights(fd, R_READ | R_SEEK, 0));
    OK(fd_read(fd, P(&v), 1, P(&n)));
    IS(fd_tell(fd, P(&pos)), NOTCAPABLE);
    IS(fd_fdstat_set_rights(fd, R_READ | R_TELL, 0), NOTCAPABLE);
    IS(fd_fdstat_set_rights(fd, R_READ, R_READ), NOTCAPABLE);
    OK(fd_fdstat_set_rights(fd, 0, 0));
    IS(fd_read(fd, P(&v), 1, P(&n)), NOTCAPABLE);
    OK(fd_fdstat_get(fd, P(&fs)));
    CHECK(fs.base == 0);
    IS(fd_fdstat_set_rights(99, 0, 0), BADF);
    /* Rights move with a descriptor, and do not stay behind. */
    OK(open_in(dir, "f", 0, R_READ, &other));
    OK(fd_renumber(fd, other));
    IS(fd_read(other, P(&v), 1, P(&n)), NOTCAPABLE);
    OK(fd_close(other));
    OK(open_in(dir, "f", 0, R_READ, &other));
    OK(fd_read(other, P(&v), 1, P(&n)));
    OK(fd_fdstat_set_rights(1, R_WRITE | R_FSTAT, 0));
    OK(write_text(1, ""));
    IS(fd_fdstat_set_flags(1, 0), NOTCAPABLE);
}

int
main(void)
{
    dir = scratch("raw_rights");
    make_file(dir, "f", "content");
    test_files();
    test_directories();
    test_inheriting();
    test_shrinking();
    return failures != 0;
}
