/* RLIMIT_FSIZE: short write up to it, then SIGXFSZ and EFBIG. */
#include "proc.h"

int
main(int argc, char **argv)
{
    struct rlimit rl = {1000, 1000};
    char buf[600] = "";
    int fd;

    (void)argv;
    OK(setrlimit(RLIMIT_FSIZE, &rl));
    if (argc > 1) {
        fd = OK(open("file", O_WRONLY | O_CREAT, 0644));
        OK(pwrite(fd, buf, 600, 1000));
        return 1;
    }
    tmpdir();
    CHECK_EQ(wait_killed(SPAWN("x")), SIGXFSZ);
    handle(SIGXFSZ, note, 0);
    fd = OK(open("file", O_RDWR | O_CREAT | O_TRUNC, 0644));
    CHECK_EQ(write(fd, buf, 600), 600);
    CHECK_EQ(write(fd, buf, 600), 400);
    CHECK_EQ(caught[SIGXFSZ], 0);
    CHECK_ERR(write(fd, buf, 1), EFBIG);
    CHECK_EQ(caught[SIGXFSZ], 1);
    CHECK_ERR(ftruncate(fd, 1001), EFBIG);
    CHECK_EQ(caught[SIGXFSZ], 2);
    OK(ftruncate(fd, 1000));
    CHECK_EQ(stat_of("file").st_size, 1000);
    return 0;
}
