/* /dev/random, /dev/urandom and getrandom give bytes that differ. */
#include "guest.h"

#include <sys/random.h>

int
main(void)
{
    unsigned char a[64], b[64];
    int distinct = 0, seen[256] = {0};
    static unsigned char big[4096];

    for (int i = 0; i < 2; i++) {
        int fd = OK(open(i ? "/dev/urandom" : "/dev/random", O_RDONLY));
        CHECK_EQ(read(fd, a, sizeof a), 64);
        CHECK_EQ(read(fd, b, sizeof b), 64);
        CHECK(memcmp(a, b, 64) != 0);
    }
    CHECK_EQ(getrandom(a, sizeof a, 0), 64);
    CHECK_EQ(getrandom(b, sizeof b, GRND_NONBLOCK), 64);
    CHECK(memcmp(a, b, 64) != 0);
    CHECK_ERR(getrandom(a, 1, 0x1000), EINVAL);
    CHECK_EQ(getrandom(a, 0, 0), 0);

    CHECK_EQ(getrandom(big, sizeof big, 0), 4096);
    for (int i = 0; i < 4096; i++)
        distinct += !seen[big[i]]++;
    CHECK(distinct > 200);
    OK(getentropy(a, 64));
    CHECK_ERR(getentropy(big, 257), EIO);
    return 0;
}
