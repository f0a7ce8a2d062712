/* /dev/full reads as zeros and is always full for writing, as stdio finds
 * out when it flushes. */
#include "guest.h"

int
main(void)
{
    char buf[10] = "xxxxxxxxx";

    int fd = OK(open("/dev/full", O_RDWR));
    CHECK_EQ(read(fd, buf, 10), 10);
    CHECK(memcmp(buf, "\0\0\0\0\0\0\0\0\0", 10) == 0);
    CHECK_ERR(write(fd, buf, 1), ENOSPC);
    CHECK_ERR(write(fd, buf, 10), ENOSPC);

    FILE *f = fopen("/dev/full", "w");
    CHECK(f != NULL);
    CHECK(fprintf(f, "buffered") == 8);
    CHECK(fflush(f) == EOF && errno == ENOSPC);
    CHECK(ferror(f));
    (void)fclose(f);
    return 0;
}
