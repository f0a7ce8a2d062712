/* The host under the kernel.
 *
 * The kernel is portable C: it calls no function of an operating system.
 * Clocks, random bytes, waiting and traces come from these tables, which
 * src/host implements natively. Files and folders of the host are file systems
 * and open files of src/host: the kernel sees their operation tables only. */
#ifndef BASE_HOST_H
#define BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pollfd;

struct host_ops {
    /* Clocks in nanoseconds: one that never goes back, the time since 1970, and
     * the processor time of the calling thread. */
    int64_t (*mono_ns)(void);
    int64_t (*real_ns)(void);
    int64_t (*thread_ns)(void);
    /* Fills buf with bytes that nobody can predict. Cannot fail. */
    void (*random)(void *buf, size_t len);
    /* Waits until a descriptor of the host is ready, like poll(2), for at most
     * timeout_ns (NS_NEVER: without a limit). Returns the number of ready
     * descriptors, or -errno. */
    int (*poll)(struct pollfd *v, size_t n, int64_t timeout_ns);
    /* A bell is a descriptor that is readable from bell_ring to bell_clear. It
     * wakes a poll. Any thread and any signal handler may ring it. bell_new
     * returns the descriptor or -errno. */
    int (*bell_new)(void);
    void (*bell_ring)(int hfd);
    void (*bell_clear)(int hfd);
    void (*bell_free)(int hfd); /* negative is fine */
    /* Connections of the host. None of the functions waits: -EAGAIN. They
     * return the number of bytes, 0 or -errno; with `peeks`, the bytes stay.
     * `how` is as for shutdown(2). */
    int64_t (*stream_send)(int hfd, const void *p, size_t len);
    int64_t (*stream_recv)(int hfd, void *p, size_t len, bool peeks);
    int (*stream_shutdown)(int hfd, int how);
    /* Returns the next connection of a listening socket, or -errno. */
    int (*stream_accept)(int hfd);
    void (*stream_close)(int hfd);
};

/* Receives the text of a trace. Embedded as the first member of its owner's
 * struct. */
struct host_sink {
    void (*put)(struct host_sink *s, const char *text, size_t len);
};

#endif
