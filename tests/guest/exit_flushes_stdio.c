/* exit flushes streams and _exit does not; both close descriptors. */
#include "guest.h"

int
main(int argc, char **argv)
{
    char buf[64];
    int fds[2];

    if (argc > 1) {
        FILE *f = fdopen(10, "w");
        CHECK(f != NULL);
        fputs("buffered", f);
        if (argv[1][0] == '_')
            _exit(0);
        exit(0);
    }
    for (int i = 0; i < 2; i++) {
        OK(pipe2(fds, O_CLOEXEC));
        CHECK_EQ(dup2(fds[1], 10), 10);
        pid_t pid = spawn_self(i ? "_exit" : "exit");
        OK(close(10));
        OK(close(fds[1]));
        CHECK_EQ(read(fds[0], buf, sizeof buf), i ? 0 : 8);
        CHECK_EQ(read(fds[0], buf, sizeof buf), 0);
        CHECK_EQ(wait_exit(pid), 0);
    }
    return 0;
}
