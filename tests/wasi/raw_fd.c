/* Descriptors of files: transfers, positions, sizes, flags, attributes. */
#include "raw.h"

static uint32_t dir, fd, n;
static uint64_t pos;
static char buf[64];
static struct iovec32 v;

static struct iovec32 *
into(uint32_t len)
{
    memset(buf, 0, sizeof buf);
    v = (struct iovec32){P(buf), len};
    return &v;
}

static void
test_read_write(void)
{
    struct iovec32 three[3] = {{P("ab"), 2}, {P(""), 0}, {P("cd"), 2}};

    OK(open_in(dir, "f", CREAT | EXCL, R_ALL, &fd));
    OK(fd_write(fd, P(three), 3, P(&n)));
    CHECK(n == 4);
    OK(fd_read(fd, P(into(9)), 1, P(&n)));
    CHECK(n == 0);
    OK(fd_seek(fd, 1, 0, P(&pos)));
    CHECK(pos == 1);
    OK(fd_read(fd, P(into(9)), 1, P(&n)));
    CHECK(n == 3 && !strcmp(buf, "bcd"));
    OK(fd_tell(fd, P(&pos)));
    CHECK(pos == 4);
    OK(fd_read(fd, 0, 0, P(&n)));
    CHECK(n == 0);
    IS(fd_read(fd, P(into(9)), 1, BAD), FAULT);
    IS(fd_read(fd, BAD, 1, P(&n)), FAULT);
    v.buf = BAD;
    v.len = 64;
    IS(fd_read(fd, P(&v), 1, P(&n)), FAULT);
    IS(fd_write(fd, P(&v), 1, P(&n)), FAULT);
    IS(fd_read(fd, P(&v), 0xffffffff, P(&n)), INVAL);
    v = (struct iovec32){P(buf), 0xffffffff};
    IS(fd_read(fd, P(&v), 1, P(&n)), INVAL);
    IS(fd_read(99, P(into(9)), 1, P(&n)), BADF);
    IS(fd_write(0x80000000, P(into(9)), 1, P(&n)), BADF);
    IS(fd_read(0xffffffff, P(into(9)), 1, P(&n)), BADF);
}

/* The start of memory is memory as any other. */
static void
test_address_0(void)
{
    volatile uint32_t start = 0; /* what the compiler must not know */
    uint32_t *at = (uint32_t *)(uintptr_t)start;
    uint32_t before[2] = {at[0], at[1]};

    OK(fd_seek(fd, 0, 0, P(&pos)));
    memset(buf, 0, sizeof buf);
    at[0] = P(buf);
    at[1] = 2;
    OK(fd_read(fd, 0, 1, P(&n)));
    CHECK(n == 2 && !strcmp(buf, "ab"));
    at[0] = before[0];
    at[1] = before[1];
}

static void
test_positions(void)
{
    OK(fd_seek(fd, (uint64_t)-1, 2, P(&pos)));
    CHECK(pos == 3);
    OK(fd_seek(fd, (uint64_t)-2, 1, P(&pos)));
    CHECK(pos == 1);
    IS(fd_seek(fd, (uint64_t)-2, 1, P(&pos)), INVAL);
    IS(fd_seek(fd, (uint64_t)-1, 0, P(&pos)), INVAL);
    IS(fd_seek(fd, 0, 3, P(&pos)), INVAL);
    IS(fd_seek(fd, 0, 4, P(&pos)), INVAL);
    IS(fd_seek(fd, 2, 0, BAD), FAULT);
    OK(fd_tell(fd, P(&pos)));
    CHECK(pos == 1);
    IS(fd_tell(fd, BAD), FAULT);
    IS(fd_tell(99, P(&pos)), BADF);
    v = (struct iovec32){P("XY"), 2};
    OK(fd_pwrite(fd, P(&v), 1, 6, P(&n)));
    CHECK(n == 2);
    OK(fd_pread(fd, P(into(9)), 1, 3, P(&n)));
    CHECK(n == 5 && !memcmp(buf, "d\0\0XY", 5));
    OK(fd_tell(fd, P(&pos)));
    CHECK(pos == 1);
    IS(fd_pread(fd, P(into(9)), 1, (uint64_t)-1, P(&n)), INVAL);
    IS(fd_pwrite(fd, P(into(9)), 1, 0, BAD), FAULT);
    IS(fd_pread(99, P(into(9)), 1, 0, P(&n)), BADF);
}

static void
test_sizes(void)
{
    struct filestat st;

    OK(fd_filestat_set_size(fd, 3));
    OK(fd_filestat_get(fd, P(&st)));
    CHECK(st.size == 3 && st.type == REGULAR && st.nlink == 1 && st.ino);
    IS(fd_filestat_set_size(fd, (uint64_t)-1), INVAL);
    OK(fd_allocate(fd, 10, 10));
    OK(fd_filestat_get(fd, P(&st)));
    CHECK(st.size == 20);
    IS(fd_allocate(fd, 0, 0), INVAL);
    IS(fd_allocate(99, 0, 1), BADF);
    for (uint32_t advice = 0; advice < 6; advice++)
        OK(fd_advise(fd, 0, 100, advice));
    IS(fd_advise(fd, 0, 100, 6), INVAL);
    IS(fd_advise(fd, 1ull << 63, 1, 0), INVAL);
    IS(fd_advise(99, 0, 0, 0), BADF);
    OK(fd_sync(fd));
    OK(fd_datasync(fd));
    IS(fd_sync(99), BADF);
    IS(fd_datasync(99), BADF);
    IS(fd_filestat_get(fd, BAD), FAULT);
    IS(fd_filestat_get(99, P(&st)), BADF);
}

static void
test_times(void)
{
    struct filestat st;

    OK(fd_filestat_set_times(fd, 5000000001, 7, 1 | 4));
    OK(fd_filestat_get(fd, P(&st)));
    CHECK(st.atim == 5000000001 && st.mtim == 7);
    OK(fd_filestat_set_times(fd, 1, 1, 2));
    OK(fd_filestat_get(fd, P(&st)));
    CHECK(st.atim > 5000000001 && st.mtim == 7);
    OK(fd_filestat_set_times(fd, 9, 9, 0));
    IS(fd_filestat_set_times(fd, 0, 0, 3), INVAL);
    IS(fd_filestat_set_times(fd, 0, 0, 12), INVAL);
    IS(fd_filestat_set_times(fd, 0, 0, 16), INVAL);
    IS(fd_filestat_set_times(99, 0, 0, 0), BADF);
}

static void
test_flags(void)
{
    struct fdstat st;

    OK(fd_fdstat_get(fd, P(&st)));
    CHECK(st.type == REGULAR && st.flags == 0 && st.base & R_READ &&
          st.base & R_WRITE && !(st.base & R_READDIR));
    OK(fd_fdstat_set_flags(fd, APPEND));
    OK(fd_fdstat_get(fd, P(&st)));
    CHECK(st.flags == APPEND);
    OK(fd_seek(fd, 0, 0, P(&pos)));
    OK(write_text(fd, "end"));
    OK(fd_tell(fd, P(&pos)));
    CHECK(pos == 23);
    IS(fd_fdstat_set_flags(fd, SYNC), INVAL);
    IS(fd_fdstat_set_flags(fd, 32), INVAL);
    OK(fd_fdstat_set_flags(fd, 0));
    IS(fd_fdstat_set_flags(99, 0), BADF);
    IS(fd_fdstat_get(fd, BAD), FAULT);
    IS(fd_fdstat_get(99, P(&st)), BADF);
}

static void
test_renumber_and_close(void)
{
    uint32_t other = 0;

    OK(open_in(dir, "g", CREAT, R_ALL, &other));
    OK(fd_renumber(fd, other));
    OK(fd_tell(other, P(&pos)));
    CHECK(pos == 23);
    IS(fd_tell(fd, P(&pos)), BADF);
    IS(fd_renumber(other, fd), BADF);
    IS(fd_renumber(fd, other), BADF);
    OK(fd_renumber(other, other));
    OK(fd_close(other));
    IS(fd_close(other), BADF);
    IS(fd_close(0xffffffff), BADF);
}

static void
test_preopens(void)
{
    struct prestat st = {9, 9};
    char name[8] = "..";

    OK(fd_prestat_get(3, P(&st)));
    CHECK(st.tag == 0 && st.len == 1);
    OK(fd_prestat_dir_name(3, P(name), 1));
    CHECK(!strcmp(name, "/."));
    IS(fd_prestat_dir_name(3, P(name), 0), NAMETOOLONG);
    IS(fd_prestat_dir_name(3, BAD, 64), FAULT);
    IS(fd_prestat_get(3, BAD), FAULT);
    IS(fd_prestat_get(4, P(&st)), BADF);
    IS(fd_prestat_get(dir, P(&st)), BADF);
    IS(fd_prestat_dir_name(0, P(name), 8), BADF);
}

int
main(void)
{
    test_preopens();
    dir = scratch("raw_fd");
    test_read_write();
    test_address_0();
    test_positions();
    test_sizes();
    test_times();
    test_flags();
    test_renumber_and_close();
    return failures != 0;
}
