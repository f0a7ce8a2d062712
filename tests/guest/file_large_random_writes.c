/* Random writes, truncations and reads of one file agree with a copy in
 * memory. */
#include "guest.h"

#define SIZE 300000

static unsigned seed = 12345;

static unsigned
rnd(unsigned below)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % below;
}

int
main(void)
{
    static char model[SIZE], buf[SIZE], data[20000];
    size_t size = 0;

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    for (int i = 0; i < 2000; i++) {
        size_t at = rnd(SIZE), len = rnd(sizeof data);
        if (len > SIZE - at)
            len = SIZE - at;
        if (rnd(10) == 0) {
            OK(ftruncate(fd, (off_t)at));
            if (at < size)
                memset(model + at, 0, size - at);
            size = at;
            continue;
        }
        memset(data, (int)rnd(256), len);
        CHECK_EQ(pwrite(fd, data, len, (off_t)at), len);
        memcpy(model + at, data, len);
        if (len && at + len > size)
            size = at + len;
        if (i % 20 == 0) {
            CHECK_EQ(pread(fd, buf, SIZE, 0), size);
            CHECK(memcmp(buf, model, size) == 0);
        }
    }
    CHECK_EQ(stat_of("f").st_size, size);
    return 0;
}
