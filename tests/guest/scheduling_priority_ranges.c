/* Each scheduling policy has a range of priorities. */
#include "guest.h"

#include <sched.h>

int
main(void)
{
    CHECK_EQ(sched_get_priority_min(SCHED_OTHER), 0);
    CHECK_EQ(sched_get_priority_max(SCHED_OTHER), 0);
    CHECK_EQ(sched_get_priority_min(SCHED_FIFO), 1);
    CHECK_EQ(sched_get_priority_max(SCHED_FIFO), 99);
    CHECK_EQ(sched_get_priority_min(SCHED_RR), 1);
    CHECK_EQ(sched_get_priority_max(SCHED_RR), 99);
    CHECK_ERR(sched_get_priority_min(-1), EINVAL);
    CHECK_ERR(sched_get_priority_max(99), EINVAL);
    return 0;
}
