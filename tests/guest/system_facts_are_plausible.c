/* uname, sysinfo, sysconf, hostname, affinity, personality, page size. */
#include "proc.h"

#include <sys/personality.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

int
main(void)
{
    struct utsname u;
    struct sysinfo si;
    char host[256];
    cpu_set_t cpus;

    OK(uname(&u));
    CHECK_STR(u.sysname, "Linux");
    CHECK(u.nodename[0] && u.release[0] && u.version[0] && u.machine[0]);
    CHECK(u.release[0] >= '3' && u.release[0] <= '9');
    OK(gethostname(host, sizeof host));
    CHECK_STR(host, u.nodename);
    OK(sysinfo(&si));
    CHECK(si.uptime > 0 && si.totalram > 0 && si.mem_unit > 0);
    CHECK(si.freeram <= si.totalram && si.procs > 0);
    CPU_ZERO(&cpus);
    OK(sched_getaffinity(0, sizeof cpus, &cpus));
    CHECK(CPU_COUNT(&cpus) >= 1);
    CHECK(sysconf(_SC_NPROCESSORS_ONLN) >= 1);
    OK(sched_setaffinity(0, sizeof cpus, &cpus));
    CHECK(sysconf(_SC_PAGESIZE) >= 4096);
    CHECK_EQ(OK(personality(0xffffffff)) & 0xff, PER_LINUX);
    CHECK_EQ(sched_yield(), 0);
    CHECK_EQ(sched_get_priority_max(SCHED_FIFO), 99);
    CHECK_EQ(sched_get_priority_max(SCHED_OTHER), 0);
    CHECK_ERR(sched_get_priority_max(77), EINVAL);
    return 0;
}
