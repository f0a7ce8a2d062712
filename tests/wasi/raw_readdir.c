/* fd_readdir: cookies, "." and "..", cut entries, entries that come and go. */
#include "raw.h"

enum { FILES = 40 };

static uint32_t dir;

/* Reads everything with a buffer of `size` bytes; how many entries. */
static uint32_t
count_with(uint32_t size, int *dots)
{
    static char buf[65536];
    uint64_t cookie = 0;
    uint32_t found = 0, used;

    *dots = 0;
    for (;;) {
        uint32_t at = 0, before = found;
        struct dirent32 d;
        OK(fd_readdir(dir, P(buf), size, cookie, P(&used)));
        CHECK(used <= size);
        while (at + 24 <= used) {
            memcpy(&d, buf + at, 24);
            if (at + 24 + d.namlen > used)
                break;
            if (buf[at + 24] == '.') {
                ++*dots;
                CHECK(d.type == DIRECTORY);
            } else {
                CHECK(d.type == REGULAR && d.namlen == 8);
            }
            CHECK(d.ino != 0);
            found++;
            cookie = d.next;
            at += 24 + d.namlen;
        }
        if (used < size)
            return found;
        if (found == before) {
            CHECK(!"no entry fits");
            return found;
        }
    }
}

int
main(void)
{
    char name[16], buf[64];
    uint32_t used, fd;
    int dots;

    dir = scratch("raw_readdir");
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "file%04d", i);
        make_file(dir, name, "");
    }
    static const uint32_t sizes[] = {32, 33, 40, 63, 64, 100, 1000, 65536};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK(count_with(sizes[i], &dots) == FILES + 2);
        CHECK(dots == 2);
    }
    /* A cut entry fills the buffer. */
    OK(fd_readdir(dir, P(buf), 10, 0, P(&used)));
    CHECK(used == 10);
    OK(fd_readdir(dir, P(buf), 0, 0, P(&used)));
    CHECK(used == 0);
    /* Going on where an entry was removed. */
    OK(fd_readdir(dir, P(buf), 64, 0, P(&used)));
    OK(path_unlink_file(dir, S("file0000")));
    CHECK(count_with(100, &dots) == FILES + 1);
    OK(fd_readdir(dir, P(buf), 64, ~0ull >> 1, P(&used)));
    CHECK(used == 0);
    IS(fd_readdir(dir, BAD, 64, 0, P(&used)), FAULT);
    IS(fd_readdir(dir, P(buf), 0xffffffff, 0, P(&used)), FAULT);
    IS(fd_readdir(dir, P(buf), 64, 0, BAD), FAULT);
    IS(fd_readdir(99, P(buf), 64, 0, P(&used)), BADF);
    OK(open_in(dir, "file0001", 0, R_ALL, &fd));
    IS(fd_readdir(fd, P(buf), 64, 0, P(&used)), NOTCAPABLE);
    return failures != 0;
}
