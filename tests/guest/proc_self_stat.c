/* /proc/self/stat has its 52 fields in one line, with the ids in place;
 * statm has seven. */
#include "guest.h"

int
main(void)
{
    char buf[4096], state;
    int pid, ppid, pgrp, session;

    OK(prctl(PR_SET_NAME, "a) b (c", 0, 0, 0));
    size_t n = get("/proc/self/stat", buf, sizeof buf);
    CHECK_EQ(buf[n - 1], '\n');
    CHECK(strchr(buf, '\n') == buf + n - 1);
    char *comm = strchr(buf, '('), *rest = strrchr(buf, ')');
    CHECK(comm && rest);
    *rest = 0;
    CHECK_STR(comm + 1, "a) b (c");
    CHECK_EQ(sscanf(buf, "%d", &pid), 1);
    CHECK_EQ(sscanf(rest + 2, "%c %d %d %d", &state, &ppid, &pgrp, &session),
             4);
    CHECK_EQ(state, 'R');
    CHECK_EQ(pid, getpid());
    CHECK_EQ(ppid, getppid());
    CHECK_EQ(pgrp, getpgrp());
    CHECK_EQ(session, getsid(0));
    int fields = 2;
    for (char *p = strtok(rest + 1, " \n"); p; p = strtok(NULL, " \n"))
        fields++;
    CHECK_EQ(fields, 52);

    get("/proc/self/statm", buf, sizeof buf);
    fields = 0;
    for (char *p = strtok(buf, " \n"); p; p = strtok(NULL, " \n"), fields++)
        CHECK(atol(p) >= 0);
    CHECK_EQ(fields, 7);
    return 0;
}
