/* Unlocking the middle of a range leaves two locks; locking again joins
 * them. */
#include "guest.h"

/* A child finds the first lock at or after `from` to be `want`: start, len. */
static int
first_lock_is(off_t from, const char *want)
{
    char arg[64];

    snprintf(arg, sizeof arg, "%d %s", (int)from, want);
    return wait_exit(spawn_self(arg)) == 0;
}

static void
set(int fd, short type, off_t start, off_t len)
{
    struct flock fl = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};

    OK(fcntl(fd, F_SETLK, &fl));
}

int
main(int argc, char **argv)
{
    int from, start, len;

    if (argc > 1) {
        CHECK_EQ(sscanf(argv[1], "%d %d %d", &from, &start, &len), 3);
        struct flock fl = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from};
        OK(fcntl(10, F_GETLK, &fl));
        CHECK_EQ(fl.l_type, F_WRLCK);
        CHECK_EQ(fl.l_start, start);
        CHECK_EQ(fl.l_len, len);
        return 0;
    }
    tmpdir();
    put("f", "");
    int fd = OK(open("f", O_RDWR));
    CHECK_EQ(dup2(fd, 10), 10);
    set(fd, F_WRLCK, 0, 100);
    CHECK(first_lock_is(0, "0 100"));
    set(fd, F_UNLCK, 40, 20);
    CHECK(first_lock_is(0, "0 40"));
    CHECK(first_lock_is(40, "60 40"));
    set(fd, F_WRLCK, 40, 20);
    CHECK(first_lock_is(0, "0 100"));
    set(fd, F_WRLCK, 100, 0); /* to infinity */
    CHECK(first_lock_is(0, "0 0"));
    return 0;
}
