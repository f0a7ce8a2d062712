/* /proc/self/fd lists the open descriptors as links to what they refer to. */
#include "guest.h"

static const char *
target(int fd)
{
    static char buf[300];
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = OK(readlink(path, buf, sizeof buf - 1));
    buf[n] = 0;
    return buf;
}

int
main(void)
{
    char want[300];
    int fds[2];
    struct stat st;
    struct dirent *e;

    const char *dir = tmpdir();
    put("f", "");
    int fd = OK(open("f", O_RDONLY));
    snprintf(want, sizeof want, "%s/f", dir);
    CHECK_STR(target(fd), want);
    OK(rename("f", "g"));
    snprintf(want, sizeof want, "%s/g", dir);
    CHECK_STR(target(fd), want);
    int null = OK(open("/dev/null", O_RDONLY));
    CHECK_STR(target(null), "/dev/null");
    OK(pipe(fds));
    OK(fstat(fds[0], &st));
    snprintf(want, sizeof want, "pipe:[%llu]", (unsigned long long)st.st_ino);
    CHECK_STR(target(fds[0]), want);
    CHECK_STR(target(fds[1]), want);

    int seen = 0;
    DIR *d = opendir("/proc/self/fd");
    CHECK(d != NULL);
    while ((e = readdir(d)))
        if (e->d_name[0] != '.') {
            CHECK_EQ(e->d_type, DT_LNK);
            CHECK(fcntl(atoi(e->d_name), F_GETFD) >= 0);
            seen += atoi(e->d_name) == fd || atoi(e->d_name) == fds[1];
        }
    CHECK_EQ(seen, 2);
    return 0;
}
