/* /proc/self/status tells name, state, ids and parent in the lines programs
 * look for. */
#include "guest.h"

static char text[8192];

static const char *
field(const char *name)
{
    static char value[256];
    char want[64];

    snprintf(want, sizeof want, "\n%s:\t", name);
    char *p = strstr(text, want);
    if (!p)
        guest_fail(__FILE__, __LINE__, name, "is missing");
    sscanf(p + strlen(want), "%255[^\n]", value);
    return value;
}

int
main(void)
{
    char want[128];
    unsigned u = geteuid(), g = getegid();

    OK(prctl(PR_SET_NAME, "my name", 0, 0, 0));
    umask(027);
    CHECK(get("/proc/self/status", text + 1, sizeof text - 1) > 0);
    text[0] = '\n';
    CHECK_STR(field("Name"), "my name");
    CHECK_STR(field("State"), "R (running)");
    CHECK_STR(field("Umask"), "0027");
    CHECK_EQ(atoi(field("Pid")), getpid());
    CHECK_EQ(atoi(field("Tgid")), getpid());
    CHECK_EQ(atoi(field("PPid")), getppid());
    CHECK_EQ(atoi(field("Threads")), 1);
    snprintf(want, sizeof want, "%u\t%u\t%u\t%u", u, u, u, u);
    CHECK_STR(field("Uid"), want);
    snprintf(want, sizeof want, "%u\t%u\t%u\t%u", g, g, g, g);
    CHECK_STR(field("Gid"), want);
    CHECK(strstr(field("VmSize"), " kB") != NULL);
    CHECK(strstr(field("VmRSS"), " kB") != NULL);
    CHECK_EQ(strlen(field("SigBlk")), 16);
    CHECK_FILE("/proc/self/comm", "my name\n");
    return 0;
}
