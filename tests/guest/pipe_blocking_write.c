/* A blocking write larger than the pipe returns when a reader has taken
 * enough for all of it. */
#include "guest.h"

#define SIZE 1000000

int
main(int argc, char **argv)
{
    static char buf[SIZE];
    int fds[2];

    if (argc > 1) {
        CHECK_STR(argv[1], "writer");
        for (int i = 0; i < SIZE; i++)
            buf[i] = (char)(i % 251);
        CHECK_EQ(write(10, buf, SIZE), SIZE);
        return 0;
    }
    OK(pipe2(fds, O_CLOEXEC));
    CHECK_EQ(dup2(fds[1], 10), 10);
    pid_t pid = spawn_self("writer");
    OK(close(10));
    OK(close(fds[1]));
    size_t len = 0;
    ssize_t n;
    while ((n = OK(read(fds[0], buf + len, len % 3 ? 1 : 7777))) > 0)
        for (; n > 0; n--, len++)
            CHECK(buf[len] == (char)(len % 251));
    CHECK_EQ(len, SIZE);
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}
