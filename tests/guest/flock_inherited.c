/* A child shares the flock of an inherited descriptor: it stays when the
 * child exits, goes when the child unlocks. */
#include "guest.h"

#include <sys/file.h>

int
main(int argc, char **argv)
{
    if (argc > 1) {
        int own = OK(open("f", O_RDWR));
        CHECK_ERR(flock(own, LOCK_EX | LOCK_NB), EWOULDBLOCK);
        OK(flock(10, LOCK_EX | LOCK_NB));
        if (strcmp(argv[1], "unlock") == 0)
            OK(flock(10, LOCK_UN));
        return 0;
    }
    tmpdir();
    put("f", "");
    int fd = OK(open("f", O_RDWR | O_CLOEXEC));
    CHECK_EQ(dup2(fd, 10), 10);
    OK(flock(fd, LOCK_EX));
    int other = OK(open("f", O_RDWR | O_CLOEXEC));
    CHECK_EQ(wait_exit(spawn_self("keep")), 0);
    CHECK_ERR(flock(other, LOCK_SH | LOCK_NB), EWOULDBLOCK);
    CHECK_EQ(wait_exit(spawn_self("unlock")), 0);
    OK(flock(other, LOCK_SH | LOCK_NB));
    return 0;
}
