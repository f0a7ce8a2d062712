/* O_TRUNC empties the same inode and leaves other descriptors valid. */
#include "guest.h"

int
main(void)
{
    char buf[8];

    tmpdir();
    put("f", "hello");
    struct stat before = stat_of("f");
    int rd = OK(open("f", O_RDONLY));
    CHECK_EQ(read(rd, buf, 2), 2);

    int wr = OK(open("f", O_WRONLY | O_TRUNC));
    CHECK_EQ(stat_of("f").st_size, 0);
    CHECK_EQ(stat_of("f").st_ino, before.st_ino);
    CHECK_EQ(read(rd, buf, 2), 0);

    /* the reader's offset is kept: new bytes before it are not seen */
    CHECK_EQ(write(wr, "abc", 3), 3);
    CHECK_EQ(read(rd, buf, sizeof buf), 1);
    CHECK_EQ(buf[0], 'c');

    /* a directory cannot be truncated, nor a missing file opened */
    CHECK_ERR(open(".", O_WRONLY | O_TRUNC), EISDIR);
    CHECK_ERR(open("none", O_WRONLY | O_TRUNC), ENOENT);
    return 0;
}
