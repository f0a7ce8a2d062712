/* Pipes, files and devices are no terminals. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int
main(void)
{
    struct stat st;
    int null = open("/dev/null", O_RDWR);

    CHECK(null >= 0 && !isatty(null));
    CHECK(!isatty(0) && !isatty(1) && !isatty(99));
    CHECK(fstat(null, &st) == 0 && S_ISCHR(st.st_mode));
    CHECK(write(null, "x", 1) == 1);
    return 0;
}
