/* Descriptors marked close-on-exec vanish in the new program, others stay. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char text[8] = "";
    int kept, marked, copy, p[2];

    if (argc > 1) {
        CHECK_ERR(fcntl(atoi(argv[2]), F_GETFD), EBADF);
        CHECK_ERR(fcntl(atoi(argv[3]), F_GETFD), EBADF);
        CHECK_EQ(OK(fcntl(atoi(argv[1]), F_GETFD)), 0);
        CHECK_EQ(read(atoi(argv[1]), text, 3), 3);
        CHECK_STR(text, "def"); /* the offset came along */
        CHECK_EQ(OK(fcntl(atoi(argv[4]), F_GETFD)), 0);
        return 0;
    }
    tmpdir();
    put("file", "abcdef");
    kept = OK(open("file", O_RDONLY));
    CHECK_EQ(read(kept, text, 3), 3);
    marked = OK(open("file", O_RDONLY | O_CLOEXEC));
    OK(pipe2(p, O_CLOEXEC));
    copy = OK(dup(marked)); /* dup clears the mark */
    CHECK_EQ(wait_exit(SPAWN(num(kept), num(marked), num(p[1]), num(copy))), 0);
    CHECK_EQ(OK(fcntl(marked, F_GETFD)), FD_CLOEXEC); /* ours is still there */
    return 0;
}
