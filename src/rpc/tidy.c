#include "rpc/tidy.h"

#include "base/hfd.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

enum { KEPT_BYTES = 32 << 20, PERIOD_NS = 50000000 };

void
tidy_init(struct tidy *t)
{
    *t = (struct tidy){.statm_hfd =
                           open("/proc/self/statm", O_RDONLY | O_CLOEXEC)};
}

void
tidy_fini(struct tidy *t)
{
    hfd_closep(&t->statm_hfd);
}

/* 0: the host does not say. */
static size_t
anonymous_bytes(const struct tidy *t)
{
    unsigned long resident, shared;
    char text[128];

    ssize_t n = pread(t->statm_hfd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    if (sscanf(text, "%*u %lu %lu", &resident, &shared) != 2)
        return 0;
    return (resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

static void
give_back(struct tidy *t, bool is_idle)
{
    size_t now = anonymous_bytes(t);

    if (now > KEPT_BYTES + (is_idle ? 0 : t->low)) {
        (void)malloc_trim(0);
        t->low = anonymous_bytes(t);
    } else if (now < t->low) {
        t->low = now;
    }
}

void
tidy_look(struct tidy *t, int64_t now, bool is_idle)
{
    if (t->due_ns && now >= t->due_ns) {
        give_back(t, is_idle);
        t->due_ns = 0;
    }
    if (!t->due_ns && !is_idle)
        t->due_ns = now + PERIOD_NS;
}
