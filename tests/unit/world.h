/* A kernel with tasks that make system calls, on machines that never run. */
#ifndef WORLD_H
#define WORLD_H

#include "kernel/kernel.h"
#include "test.h"

#include <stdint.h>

enum { WORLD_MEMORY_BYTES = 1 << 20 };

/* A kernel with a file system in memory and a virtual clock; NULL if out of
 * memory. End it with kernel_free. */
struct kernel *world_new(void);
/* A task with guest memory, which can make calls. */
struct task *world_task(struct kernel *k);
/* Makes a call as the task would; up to six arguments. */
#define SYS(t, nr, ...) world_call(t, nr, (const uint32_t[6]){__VA_ARGS__})
int32_t world_call(struct task *t, uint32_t nr, const uint32_t args[6]);
/* Has the wait of the task ended? */
bool world_is_woken(const struct task *t);
/* Guest memory at `at`. */
void *world_at(struct task *t, uint32_t at);
/* Moves the clock on and fires what is due. */
void world_sleep_ns(struct kernel *k, int64_t ns);

/* Call numbers. */
enum {
    NR_EVENTFD2 = 19,
    NR_EPOLL_CREATE1 = 20,
    NR_EPOLL_CTL = 21,
    NR_EPOLL_PWAIT = 22,
    NR_DUP = 23,
    NR_FCNTL = 25,
    NR_FLOCK = 32,
    NR_MKNODAT = 33,
    NR_UNLINKAT = 35,
    NR_OPENAT = 56,
    NR_CLOSE = 57,
    NR_PIPE2 = 59,
    NR_READ = 63,
    NR_WRITE = 64,
    NR_SIGNALFD4 = 74,
    NR_TIMERFD_CREATE = 85,
    NR_SOCKET = 198,
    NR_SOCKETPAIR = 199,
    NR_BIND = 200,
    NR_LISTEN = 201,
    NR_ACCEPT = 202,
    NR_CONNECT = 203,
    NR_GETSOCKNAME = 204,
    NR_SENDTO = 206,
    NR_RECVFROM = 207,
    NR_SETSOCKOPT = 208,
    NR_GETSOCKOPT = 209,
    NR_SHUTDOWN = 210,
    NR_SENDMSG = 211,
    NR_RECVMSG = 212,
    NR_TIMERFD_GETTIME = 410,
    NR_TIMERFD_SETTIME = 411,
    NR_PPOLL = 414,
};

#endif
