/* Descriptors of the host. */
#include "base/hfd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void
hfd_closep(int *hfd)
{
    if (*hfd >= 0)
        close(*hfd);
    *hfd = -1;
}

int
hfd_write_all(int hfd, const void *p, size_t n)
{
    const char *at = p;

    while (n) {
        ssize_t w = write(hfd, at, n);
        if (w < 0 && errno != EINTR)
            return -errno;
        if (w > 0) {
            at += w;
            n -= (size_t)w;
        }
    }
    return 0;
}

bool
hfd_fill_standard(void)
{
    int hfd;

    do
        hfd = open("/dev/null", O_RDWR);
    while (hfd >= 0 && hfd <= 2);
    return hfd > 2 && !close(hfd);
}
