/* The host under the kernel.
 *
 * The kernel is portable C: it calls no function of an operating system.
 * Clocks, random bytes, waiting and traces come from these tables, which
 * src/host implements natively. Files and folders of the host are file systems
 * and open files of src/host: the kernel sees their operation tables only. */
#ifndef BASE_HOST_H
#define BASE_HOST_H

#include <stddef.h>
#include <stdint.h>

struct pollfd;

struct host_ops {
    /* Nanoseconds: of a clock that never goes back, since 1970, and of the
     * processor time of the calling thread. */
    int64_t (*mono_ns)(void);
    int64_t (*real_ns)(void);
    int64_t (*thread_ns)(void);
    /* Fills buf with bytes that nobody can predict. Cannot fail. */
    void (*random)(void *buf, size_t len);
    /* Waits until a descriptor of the host is ready, as poll(2), at most
     * timeout_ns (NS_NEVER: without end). How many are, or -errno. */
    int (*poll)(struct pollfd *v, size_t n, int64_t timeout_ns);
    /* A bell: a descriptor that is readable from `ring` to `clear`. Any thread
     * and signal handler may ring. bell_new: -errno. */
    int (*bell_new)(void);
    void (*bell_ring)(int hfd);
    void (*bell_clear)(int hfd);
    void (*bell_free)(int hfd); /* negative is fine */
};

/* Where the text of a trace goes. Embedded as the first member. */
struct host_sink {
    void (*put)(struct host_sink *s, const char *text, size_t len);
};

#endif
