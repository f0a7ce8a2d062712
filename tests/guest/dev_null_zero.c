/* /dev/null swallows and is empty; /dev/zero gives zeros without end. */
#include "guest.h"

int
main(void)
{
    static char buf[100000];
    struct stat st;

    int null = OK(open("/dev/null", O_RDWR | O_TRUNC | O_CREAT, 0600));
    CHECK_EQ(read(null, buf, sizeof buf), 0);
    CHECK_EQ(write(null, buf, sizeof buf), sizeof buf);
    CHECK_EQ(pwrite(null, buf, 10, 100), 10);
    CHECK_EQ(lseek(null, 5, SEEK_END), 0);
    OK(fstat(null, &st));
    CHECK_EQ(st.st_size, 0);
    CHECK(!isatty(null) && errno == ENOTTY);
    CHECK_ERR(open("/dev/null", O_RDONLY | O_DIRECTORY), ENOTDIR);
    CHECK_ERR(open("/dev/null/x", O_RDONLY), ENOTDIR);
    CHECK_ERR(ftruncate(null, 0), EINVAL);

    int zero = OK(open("/dev/zero", O_RDWR));
    memset(buf, 'x', sizeof buf);
    CHECK_EQ(read(zero, buf, sizeof buf), sizeof buf);
    for (size_t i = 0; i < sizeof buf; i++)
        CHECK(buf[i] == 0);
    CHECK_EQ(write(zero, buf, sizeof buf), sizeof buf);
    return 0;
}
