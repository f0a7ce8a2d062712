/* A readv whose first buffer is the array of iovecs itself ends somewhere,
 * but in no memory of others. */
#include "guest.h"

#include <sys/socket.h>
#include <sys/uio.h>

int
main(void)
{
    static struct iovec iov[4];
    char junk[64];
    int s[2];

    memset(junk, 0xf0, sizeof junk);
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    for (int i = 0; i < 2; i++) {
        for (int n = 0; n < 4; n++)
            iov[n] = (struct iovec){iov, sizeof iov};
        CHECK_EQ(write(s[0], junk, sizeof iov), sizeof iov);
        CHECK_EQ(write(s[0], junk, sizeof junk), sizeof junk);
        ssize_t r = readv(s[1], iov, 4);
        CHECK(r == -1 || r > 0);
        while (recv(s[1], junk, sizeof junk, MSG_DONTWAIT) > 0)
            ;
    }
    return 0;
}
