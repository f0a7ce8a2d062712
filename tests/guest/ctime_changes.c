/* chmod, chown, link, unlink and rename change ctime and not mtime. */
#include "guest.h"

static struct stat before;
static double limit_s;

/* ctime has moved since the last call that said so; mtime never does. */
static int
ctime_moved(const char *path)
{
    struct stat st = stat_of(path);

    CHECK(now_s() < limit_s);
    CHECK_EQ(st.st_mtim.tv_sec, 1000000000);
    if (st.st_ctim.tv_sec == before.st_ctim.tv_sec &&
        st.st_ctim.tv_nsec == before.st_ctim.tv_nsec)
        return 0;
    CHECK(st.st_ctim.tv_sec > before.st_ctim.tv_sec ||
          st.st_ctim.tv_nsec > before.st_ctim.tv_nsec);
    before = st;
    return 1;
}

int
main(void)
{
    static const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};

    tmpdir();
    put("f", "x");
    OK(utimensat(AT_FDCWD, "f", old, 0));
    before = stat_of("f");
    limit_s = now_s() + 60;
    do
        OK(chmod("f", 0640));
    while (!ctime_moved("f"));
    do
        OK(chown("f", getuid(), getgid()));
    while (!ctime_moved("f"));
    do {
        (void)unlink("g");
        OK(link("f", "g"));
    } while (!ctime_moved("f"));
    do {
        OK(rename("f", "h"));
        OK(rename("h", "f"));
    } while (!ctime_moved("f"));
    return 0;
}
