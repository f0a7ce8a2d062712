/* With O_NONBLOCK a FIFO opens for reading at once and for writing only if
 * there is a reader. */
#include "guest.h"

int
main(void)
{
    char c;

    tmpdir();
    OK(mkfifo("p", 0600));
    CHECK_ERR(open("p", O_WRONLY | O_NONBLOCK), ENXIO);
    int rd = OK(open("p", O_RDONLY | O_NONBLOCK));
    CHECK_EQ(read(rd, &c, 1), 0); /* no writer: end of file */
    int wr = OK(open("p", O_WRONLY | O_NONBLOCK));
    CHECK_ERR(read(rd, &c, 1), EAGAIN); /* a writer, but nothing yet */
    CHECK_EQ(write(wr, "x", 1), 1);
    CHECK_EQ(read(rd, &c, 1), 1);
    OK(close(wr));
    CHECK_EQ(read(rd, &c, 1), 0);
    OK(close(rd));

    int both = OK(open("p", O_RDWR)); /* Linux: never blocks */
    CHECK_EQ(write(both, "y", 1), 1);
    CHECK_EQ(read(both, &c, 1), 1);
    CHECK_EQ(c, 'y');
    CHECK_ERR(lseek(both, 0, SEEK_SET), ESPIPE);
    CHECK_ERR(mkfifo("p", 0600), EEXIST);
    CHECK_ERR(mkfifo("none/p", 0600), ENOENT);
    return 0;
}
