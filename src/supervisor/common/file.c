/* Small files that the kernel generates when they are read. They are read
 * completely, because a second read could see another state. */
#include "supervisor/common/file.h"

#include "base/hfd.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int
file_read_text(int dir_hfd, const char *name, char *buf, size_t size)
{
    CLEANUP(hfd_closep) int hfd = openat(dir_hfd, name, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t r = 1;

    if (hfd < 0)
        return -errno;
    while (r > 0 && n + 1 < size) {
        r = read(hfd, buf + n, size - 1 - n);
        if (r < 0)
            return -errno;
        n += (size_t)r;
    }
    buf[n] = 0;
    return 0;
}

int
file_write_text(int dir_hfd, const char *name, const char *text)
{
    CLEANUP(hfd_closep) int hfd = openat(dir_hfd, name, O_WRONLY | O_CLOEXEC);

    if (hfd < 0)
        return -errno;
    return write(hfd, text, strlen(text)) < 0 ? -errno : 0;
}
