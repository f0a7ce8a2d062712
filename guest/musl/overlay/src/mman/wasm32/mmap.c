/* SPDX-License-Identifier: MIT */
/* mmap inside the guest: anonymous memory, private copies of files, and memory
 * that the kernel shares between processes. A file that the kernel cannot share
 * is copied if the mapping is read-only. Protection is not enforced. Address
 * hints are not followed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "pages.h"
#include "syscall.h"

#define SHARING (MAP_SHARED | MAP_PRIVATE)
#define FIXED   (MAP_FIXED | MAP_FIXED_NOREPLACE)

static int
is_zero_device(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 5);
}

/* May this descriptor be mapped so? 0 or an error number; *anonymous is set for
 * a device that maps as zeros. */
static int
check_file(int fd, int prot, int flags, int *anonymous)
{
    struct stat st;
    int mode = fcntl(fd, F_GETFL);

    if (mode < 0 || mode & O_PATH)
        return EBADF;
    if (fstat(fd, &st) < 0)
        return errno;
    if (S_ISDIR(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
        return ENODEV;
    if ((mode & O_ACCMODE) == O_WRONLY)
        return EACCES;
    *anonymous = is_zero_device(&st);
    if (*anonymous)
        return 0;
    if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
        return ENODEV;
    if ((flags & SHARING) == MAP_PRIVATE || !(prot & PROT_WRITE))
        return 0;
    return (mode & O_ACCMODE) == O_RDONLY ? EACCES : 0;
}

static int
check_place(const void *start, size_t len, int flags)
{
    if (!(flags & FIXED))
        return 0;
    if (UNALIGNED(start))
        return EINVAL;
    if (!__wpages_in_space(start, len))
        return ENOMEM;
    if (!PAGE_OF(start))
        return EPERM;
    if (flags & MAP_FIXED_NOREPLACE &&
        !__wpages_none_mapped(PAGE_OF(start), PAGES(len)))
        return EEXIST;
    return 0;
}

/* Everything behind the end of the file stays zero. */
static int
read_file(char *to, size_t len, int fd, off_t off)
{
    while (len) {
        ssize_t n = pread(fd, to, len, off);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (!n)
            return 0;
        to += n;
        off += n;
        len -= (size_t)n;
    }
    return 0;
}

static void *
fail(int error)
{
    errno = error;
    return MAP_FAILED;
}

/* The kernel maps the pages first, as it does not charge the process for them:
 * memory that grew here would be charged. */
static int
share(unsigned i, unsigned n, int prot, int flags, int fd, off_t off)
{
    int r = __syscall(SYS_mmap2, PAGE_PTR(i), n * PAGE_BYTES, prot, flags, fd,
                      off / PAGE_BYTES);

    if (r < 0 && r > -4096)
        return -r;
    if (!__wpages_claim_shared(i, n))
        return 0;
    __syscall(SYS_munmap, PAGE_PTR(i), n * PAGE_BYTES);
    return ENOMEM;
}

static void *
map_shared(void *start, size_t len, int prot, int flags, int fd, off_t off)
{
    unsigned i = PAGE_OF(start), n = PAGES(len);
    int error;

    __wpages_lock();
    error = check_place(start, len, flags);
    if (!error && !(flags & FIXED))
        i = __wpages_find_shared(n);
    if (!error)
        error = i ? share(i, n, prot, flags, fd, off) : ENOMEM;
    __wpages_unlock();
    return error ? fail(error) : PAGE_PTR(i);
}

void *
__mmap(void *start, size_t len, int prot, int flags, int fd, off_t off)
{
    int anonymous = flags & MAP_ANON, error = 0;
    int dirty, *keep;
    unsigned i, n = PAGES(len);

    if (!len || UNALIGNED(off) || !(flags & SHARING))
        return fail(EINVAL);
    if (len >= PTRDIFF_MAX)
        return fail(ENOMEM);
    if (!anonymous)
        error = check_file(fd, prot, flags, &anonymous);
    if (error)
        return fail(error);
    if ((flags & SHARING) != MAP_PRIVATE) {
        void *p = map_shared(start, len, prot,
                             anonymous ? flags | MAP_ANON : flags, fd, off);

        if (p != MAP_FAILED || errno != ENODEV || prot & PROT_WRITE)
            return p;
    }

    __wpages_lock();
    error = check_place(start, len, flags);
    i = error                ? 0
        : flags & FIXED ? PAGE_OF(start)
                        : __wpages_find(n);
    keep = anonymous && flags & MAP_UNINITIALIZED ? &dirty : NULL;
    if (i && __wpages_claim(i, n, keep))
        i = 0;
    if (i && !anonymous)
        __wpages_set_file(i, n);
    __wpages_unlock();
    if (!i)
        return fail(error ? error : ENOMEM);
    if (anonymous)
        return PAGE_PTR(i);

    error = read_file(PAGE_PTR(i), len, fd, off);
    if (error) {
        __munmap(PAGE_PTR(i), len);
        return fail(error);
    }
    return PAGE_PTR(i);
}

weak_alias(__mmap, mmap);
#undef mmap64
weak_alias(mmap, mmap64);
