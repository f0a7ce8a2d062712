/* sendfile copies from its own offset or the descriptor's, to files and
 * pipes. */
#include "guest.h"

#include <sys/sendfile.h>

int
main(void)
{
    char buf[16];
    int fds[2];
    off_t off = 2;

    tmpdir();
    put("in", "0123456789");
    int in = OK(open("in", O_RDONLY));
    int out = OK(open("out", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(sendfile(out, in, &off, 3), 3);
    CHECK_EQ(off, 5);
    CHECK_EQ(lseek(in, 0, SEEK_CUR), 0);
    CHECK_EQ(sendfile(out, in, NULL, 4), 4);
    CHECK_EQ(lseek(in, 0, SEEK_CUR), 4);
    CHECK_FILE("out", "2340123");
    CHECK_EQ(sendfile(out, in, NULL, 100), 6);
    CHECK_EQ(sendfile(out, in, NULL, 100), 0);
    OK(pipe(fds));
    off = 7;
    CHECK_EQ(sendfile(fds[1], in, &off, 100), 3);
    CHECK_EQ(read(fds[0], buf, sizeof buf), 3);
    CHECK(memcmp(buf, "789", 3) == 0);

    off = -1;
    CHECK_ERR(sendfile(out, in, &off, 1), EINVAL);
    CHECK_ERR(sendfile(-1, in, NULL, 1), EBADF);
    CHECK_ERR(sendfile(out, -1, NULL, 1), EBADF);
    CHECK_ERR(sendfile(in, in, NULL, 1), EBADF); /* not for writing */
    int app = OK(open("out", O_WRONLY | O_APPEND));
    CHECK_ERR(sendfile(app, in, NULL, 1), EINVAL);
    off = 0;
    CHECK_ERR(sendfile(out, fds[0], &off, 1), ESPIPE);
    return 0;
}
