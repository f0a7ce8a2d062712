/* The host name agrees between uname, gethostname and /proc; each read of
 * random/uuid is new. */
#include "guest.h"

#include <sys/utsname.h>

int
main(void)
{
    char host[128], buf[128], one[64], two[64];
    struct utsname u;

    OK(gethostname(host, sizeof host));
    OK(uname(&u));
    CHECK_STR(u.nodename, host);
    CHECK_STR(u.sysname, "Linux");
    get("/proc/sys/kernel/hostname", buf, sizeof buf);
    CHECK(strncmp(buf, host, strlen(host)) == 0);
    CHECK_STR(buf + strlen(host), "\n");

    CHECK_EQ(get("/proc/sys/kernel/random/uuid", one, sizeof one), 37);
    CHECK_EQ(get("/proc/sys/kernel/random/uuid", two, sizeof two), 37);
    CHECK(strcmp(one, two) != 0);
    for (int i = 0; i < 36; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23)
            CHECK(one[i] == '-');
        else
            CHECK(strchr("0123456789abcdef", one[i]) != NULL);
    CHECK_EQ(one[14], '4'); /* the random kind */
    return 0;
}
