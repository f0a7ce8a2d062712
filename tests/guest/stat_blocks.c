/* st_blocks counts what is stored: all of a dense file, little of a sparse
 * one. */
#include "guest.h"

int
main(void)
{
    static char buf[1 << 20];
    struct stat st;

    tmpdir();
    put("empty", "");
    CHECK_EQ(stat_of("empty").st_blocks, 0);

    memset(buf, 'x', sizeof buf);
    int fd = OK(open("dense", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(write(fd, buf, sizeof buf), sizeof buf);
    OK(fstat(fd, &st));
    CHECK(st.st_blocks >= (1 << 20) / 512);
    CHECK(st.st_blocks <= (4 << 20) / 512); /* some allocate ahead */

    fd = OK(open("sparse", O_RDWR | O_CREAT, 0644));
    OK(ftruncate(fd, (off_t)1 << 33));
    OK(fstat(fd, &st));
    CHECK_EQ(st.st_size, (off_t)1 << 33);
    CHECK_EQ(st.st_blocks, 0);
    CHECK_EQ(pwrite(fd, "x", 1, (off_t)1 << 32), 1);
    OK(fstat(fd, &st));
    CHECK(st.st_blocks > 0 && st.st_blocks <= (1 << 20) / 512);
    return 0;
}
