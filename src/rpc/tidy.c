#include "rpc/tidy.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

enum { KEPT_BYTES = 64 << 20, PERIOD_NS = 50000000 };

/* 0: the host does not say. */
static size_t
anonymous_bytes(void)
{
    unsigned long resident = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f)
        return 0;
    if (fscanf(f, "%*u %lu %lu", &resident, &shared) != 2)
        resident = shared = 0;
    (void)fclose(f);
    return (resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

static void
give_back(struct tidy *t, bool is_idle)
{
    size_t now = anonymous_bytes();

    if (now > KEPT_BYTES + (is_idle ? 0 : t->low)) {
        (void)malloc_trim(0);
        t->low = anonymous_bytes();
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
