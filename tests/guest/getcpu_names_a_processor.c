/* getcpu names a processor that exists. */
#include "guest.h"

int
main(void)
{
    unsigned cpu = ~0u, node = ~0u;

    CHECK_EQ(syscall(SYS_getcpu, &cpu, &node, NULL), 0);
    CHECK(cpu < (unsigned)sysconf(_SC_NPROCESSORS_CONF));
    CHECK(node < 1024);
    CHECK_EQ(syscall(SYS_getcpu, NULL, NULL, NULL), 0);
    CHECK_ERR(syscall(SYS_getcpu, BAD_ADDR, NULL, NULL), EFAULT);
    return 0;
}
