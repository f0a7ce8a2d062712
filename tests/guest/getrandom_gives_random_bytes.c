/* getrandom fills whole buffers with bytes that differ each time. */
#include "proc.h"

#include <sys/random.h>

int
main(void)
{
    unsigned char a[256], b[256], big[100000];
    int seen[256] = {0}, values = 0;
    unsigned i;

    CHECK_EQ(getrandom(a, sizeof a, 0), sizeof a);
    CHECK_EQ(getrandom(b, sizeof b, GRND_NONBLOCK), sizeof b);
    CHECK(memcmp(a, b, sizeof a) != 0);
    CHECK_EQ(getrandom(big, sizeof big, 0), sizeof big);
    for (i = 0; i < sizeof big; i++)
        if (!seen[big[i]]++)
            values++;
    CHECK_EQ(values, 256);
    for (i = 0; i < 256; i++)
        CHECK(seen[i] > 200 && seen[i] < 600);
    CHECK_ERR(getrandom(a, sizeof a, 0x1000), EINVAL);
    CHECK_ERR(getrandom(BAD_ADDR, 16, 0), EFAULT);
    OK(getentropy(a, 256));
    CHECK_ERR(getentropy(big, 257), EIO);
    return 0;
}
