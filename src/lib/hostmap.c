/* Host files mapped for reading. */
#include "lib/lib.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int
host_map(const char *path, const void **ret, size_t *ret_len)
{
    struct stat st;
    int hfd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (hfd < 0)
        return -errno;
    int r = fstat(hfd, &st) < 0 ? -errno : 0;
    if (r == 0 && !S_ISREG(st.st_mode))
        r = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    const void *map = NULL;
    if (r == 0 && st.st_size > 0) {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, hfd, 0);
        if (map == MAP_FAILED)
            r = -errno;
    }
    close(hfd);
    if (r < 0)
        return r;
    *ret = map;
    *ret_len = (size_t)st.st_size;
    return 0;
}

void
host_unmap(const void *map, size_t len)
{
    if (map)
        munmap((void *)map, len);
}
