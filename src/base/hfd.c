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
    /* Open, but not for what it is used for. */
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int i = 0; i <= 2; i++)
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", flags[i]) != i)
            return false;
    return true;
}
