/* Includes and checks that the programs of the end-to-end tests share. */
#ifndef GUEST_H
#define GUEST_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define SELF "/proc/self/exe"
#define BOMB "/tmp/bomb" /* what attacks leave behind */

#define CHECK(cond)                                                           \
    do                                                                        \
        if (!(cond)) {                                                        \
            int err_ = errno;                                                 \
            dprintf(2, "%s:%d: %s is false (errno %d)\n", __FILE__, __LINE__, \
                    #cond, err_);                                             \
            _exit(1);                                                         \
        }                                                                     \
    while (0)

/* The call fails with this errno. */
#define FAILS(call, wanted)                                                \
    do {                                                                   \
        errno = 0;                                                         \
        long got_ = (long)(call);                                          \
        int err_ = errno;                                                  \
        if (got_ != -1 || err_ != (wanted)) {                              \
            dprintf(2, "%s:%d: %s gave %ld, errno %d, not %s\n", __FILE__, \
                    __LINE__, #call, got_, err_, #wanted);                 \
            _exit(1);                                                      \
        }                                                                  \
    } while (0)

#define UNUSED __attribute__((unused))

UNUSED static const char *
strerrorname(int err)
{
    switch (err) {
#define NAME(e) \
    case e:     \
        return #e;
        NAME(EACCES)
        NAME(EAGAIN)
        NAME(EBADF)
        NAME(EFBIG)
        NAME(EISDIR)
        NAME(ELOOP)
        NAME(EMFILE)
        NAME(ENFILE)
        NAME(ENOENT)
        NAME(ENOEXEC)
        NAME(ENOMEM)
        NAME(ENOSPC)
        NAME(ENOTDIR)
        NAME(EPERM)
        NAME(EROFS)
        NAME(EXDEV)
#undef NAME
    default:
        return "another error";
    }
}

extern char **environ;

#endif
