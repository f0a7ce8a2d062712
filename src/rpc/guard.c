/* The thread that waits for the server's end. */
#include "rpc/guard.h"

#include "base/os_thread.h"
#include "base/os_time.h"
#include "wire/log.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

void
guard_init(struct guard *g)
{
    *g = (struct guard){0};
    (void)pthread_mutex_init(&g->lock, NULL);
    (void)pthread_cond_init(&g->over, NULL);
}

/* Nobody may read it. */
static void
guard_complain(void)
{
    struct pollfd p = {STDERR_FILENO, POLLOUT, 0};

    if (poll(&p, 1, 0) == 1)
        text_logf("a sandbox did not end within %d s; the server exits anyway",
                  GUARD_S);
}

static void *
guard_watch(void *arg)
{
    struct guard *g = arg;
    struct timespec until = time_spec(time_mono_ns() + GUARD_S * NS_PER_S);
    int r = 0;

    pthread_mutex_lock(&g->lock);
    while (!g->is_over && r != ETIMEDOUT)
        r = pthread_cond_clockwait(&g->over, &g->lock, CLOCK_MONOTONIC, &until);
    if (!g->is_over) {
        guard_complain();
        _exit(EXIT_FAILURE);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

/* Without a thread, the end may take as long as its slowest sandbox. */
void
guard_start(struct guard *g)
{
    g->has_thread = !os_thread_start(&g->thread, guard_watch, g);
}

/* The orderly end was in time. The thread must be gone before its lock is. */
void
guard_fini(struct guard *g)
{
    pthread_mutex_lock(&g->lock);
    g->is_over = true;
    pthread_cond_signal(&g->over);
    pthread_mutex_unlock(&g->lock);
    if (g->has_thread)
        (void)pthread_join(g->thread, NULL);
    (void)pthread_cond_destroy(&g->over);
    (void)pthread_mutex_destroy(&g->lock);
}
