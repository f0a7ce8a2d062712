#include "rpc/tidy.h"

#include "base/hfd.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

enum { KEPT_BYTES = 32 << 20, PERIOD_NS = 50000000 };

/* The file is opened now, because a sealed worker cannot open files later. */
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
tidy_anonymous_bytes(const struct tidy *t)
{
    unsigned long resident, shared;
    char text[128];

    ssize_t n = pread(t->statm_hfd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    if (sscanf(text, "%*u %lu %lu", &resident, &shared) != 2)
        return 0;
    return (resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

/* An idle server returns everything beyond a fixed amount. A busy one returns
 * only growth since its minimum, because it would need the rest again at once.
 */
static void
tidy_give_back(struct tidy *t, bool is_idle)
{
    size_t now = tidy_anonymous_bytes(t);

    if (now > KEPT_BYTES + (is_idle ? 0 : t->low)) {
        (void)malloc_trim(0);
        t->low = tidy_anonymous_bytes(t);
    } else if (now < t->low) {
        t->low = now;
    }
}

/* Memory is measured at most every 50 ms, and only if something has happened.
 */
void
tidy_look(struct tidy *t, int64_t now, bool is_idle)
{
    if (t->due_ns && now >= t->due_ns) {
        tidy_give_back(t, is_idle);
        t->due_ns = 0;
    }
    if (!t->due_ns && !is_idle)
        t->due_ns = now + PERIOD_NS;
}
