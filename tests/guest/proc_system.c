/* meminfo, cpuinfo, uptime, loadavg, version and filesystems read as
 * programs expect. */
#include "guest.h"

static char text[65536];

static const char *
slurp(const char *path)
{
    CHECK(get(path, text, sizeof text) > 0);
    return text;
}

int
main(void)
{
    double up, idle, l1, l5, l15;
    int running, total, last;
    unsigned long kb;

    CHECK_EQ(sscanf(slurp("/proc/meminfo"), "MemTotal: %lu kB", &kb), 1);
    CHECK(kb > 0);
    CHECK(strstr(text, "\nMemFree:") && strstr(text, "\nMemAvailable:"));
    CHECK(strstr(text, "\nSwapTotal:") && strstr(text, "\nCached:"));
    CHECK(strstr(text, "\nBuffers:"));

    CHECK(strncmp(slurp("/proc/cpuinfo"), "processor\t: 0\n", 14) == 0);
    CHECK_EQ(sscanf(slurp("/proc/uptime"), "%lf %lf", &up, &idle), 2);
    CHECK(up > 0);
    double later;
    CHECK_EQ(sscanf(slurp("/proc/uptime"), "%lf", &later), 1);
    CHECK(later >= up);
    CHECK_EQ(sscanf(slurp("/proc/loadavg"), "%lf %lf %lf %d/%d %d", &l1, &l5,
                    &l15, &running, &total, &last),
             6);
    CHECK(total >= 1 && last >= 1);
    CHECK(strncmp(slurp("/proc/version"), "Linux version ", 14) == 0);
    CHECK(strstr(slurp("/proc/filesystems"), "nodev\tproc\n"));
    CHECK(atoi(slurp("/proc/sys/kernel/pid_max")) > 300);
    return 0;
}
