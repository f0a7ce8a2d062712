/* Descriptors of the host. Inline, so that src/base itself calls no function of
 * the operating system. */
#ifndef BASE_HFD_H
#define BASE_HFD_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* For CLEANUP. Accepts a negative descriptor, and leaves one behind. */
static inline void
hfd_closep(int *hfd)
{
    if (*hfd >= 0)
        close(*hfd);
    *hfd = -1;
}

/* Writes all bytes. Returns 0 or -errno; after an error, some bytes may have
 * been written. */
static inline int
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

/* Opens a placeholder for each closed standard stream. Otherwise a file that is
 * opened later would get its number and be passed to programs. Using the
 * placeholder fails with EBADF, like the closed stream. */
static inline bool
hfd_fill_standard(void)
{
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int i = 0; i <= 2; i++)
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", flags[i]) != i)
            return false;
    return true;
}

#endif
