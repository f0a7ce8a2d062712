/* One system call that does nothing. */
#include "bench.h"

#include <unistd.h>

enum { CALLS = 20000 };

static void
call_often(void)
{
    for (int i = 0; i < CALLS; i++)
        NEED(getppid() >= 0);
}

int
main(void)
{
    report("getppid", best_ns(call_often, CALLS), "ns");
    return 0;
}
