/* A child's directory in /proc shows it while it lives and is gone after
 * wait. */
#include "guest.h"

int
main(int argc, char **argv)
{
    char path[64], buf[256], c;
    int fds[2], go[2];

    if (argc > 1) {
        CHECK_EQ(write(11, "x", 1), 1);
        CHECK_EQ(read(10, &c, 1), 1);
        return strcmp(argv[1], "waits") != 0;
    }
    OK(pipe2(fds, O_CLOEXEC));
    OK(pipe2(go, O_CLOEXEC));
    CHECK_EQ(dup2(go[0], 10), 10);
    CHECK_EQ(dup2(fds[1], 11), 11);
    pid_t pid = spawn_self("waits");
    CHECK_EQ(read(fds[0], &c, 1), 1);

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    CHECK_EQ(get(path, buf, sizeof buf), 12);
    CHECK(memcmp(buf, "child\0waits", 12) == 0);
    int found = 0;
    struct dirent *e;
    DIR *d = opendir("/proc");
    CHECK(d != NULL);
    while ((e = readdir(d)))
        found += atoi(e->d_name) == pid || atoi(e->d_name) == getpid();
    CHECK_EQ(found, 2);

    int held = OK(open(path, O_RDONLY));
    CHECK_EQ(write(go[1], "x", 1), 1);
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_ERR(open(path, O_RDONLY), ENOENT);
    CHECK(read(held, buf, sizeof buf) <= 0); /* 0 or ESRCH */
    return 0;
}
