/* A process can be bound to the processors that it has, not to none. */
#include <errno.h>
#include <sched.h>
#include <unistd.h>

int
main(void)
{
    cpu_set_t all, none;

    CPU_ZERO(&all);
    CPU_ZERO(&none);
    if (sched_getaffinity(0, sizeof all, &all) || !CPU_COUNT(&all))
        return 1;
    if (sched_setaffinity(0, sizeof all, &all) ||
        sched_setaffinity(getpid(), sizeof all, &all))
        return 2;
    if (sched_setaffinity(0, sizeof none, &none) != -1 || errno != EINVAL)
        return 3;
    if (sched_setaffinity(0, 0, &all) != -1 || errno != EINVAL)
        return 4;
    if (sched_setaffinity(0, sizeof all, (cpu_set_t *)-1) != -1 ||
        errno != EFAULT)
        return 5;
    if (sched_setaffinity(0x7ffffff, sizeof all, &all) != -1 || errno != ESRCH)
        return 6;
    if (sched_setaffinity(-1, sizeof all, &all) != -1 || errno != ESRCH)
        return 20;
    if (sched_getaffinity(-1, sizeof all, &all) != -1 || errno != ESRCH)
        return 21;
    return 0;
}
