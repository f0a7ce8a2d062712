/* A socket file in a set-group-ID directory gets the group of the directory,
 * and /proc cannot contain one. */
/* user: root */
#include "net.h"

int
main(void)
{
    union addr a;
    socklen_t len = unix_name(&a, "d/sock");
    int s = OK(socket(AF_UNIX, SOCK_STREAM, 0));

    tmpdir();
    OK(mkdir("d", 0755));
    OK(chown("d", 0, 50));
    OK(chmod("d", 02775));
    OK(bind(s, &a.sa, len));
    CHECK_EQ(stat_of("d/sock").st_gid, 50);
    OK(unlink("d/sock"));
    OK(rmdir("d"));
    s = OK(socket(AF_UNIX, SOCK_STREAM, 0));
    len = unix_name(&a, "/proc/sock");
    CHECK_ERR(bind(s, &a.sa, len), ENOENT);
    return 0;
}
