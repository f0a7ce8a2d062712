/* A FIFO works on without its name, and what was not read is gone with the
 * last end. */
#include "guest.h"

#include <signal.h>

int
main(void)
{
    char c;

    tmpdir();
    OK(mkfifo("p", 0600));
    int rd = OK(open("p", O_RDONLY | O_NONBLOCK));
    int wr = OK(open("p", O_WRONLY));
    CHECK_EQ(write(wr, "lost", 4), 4);
    OK(close(rd));
    signal(SIGPIPE, SIG_IGN);
    CHECK_ERR(write(wr, "x", 1), EPIPE);
    OK(close(wr));

    rd = OK(open("p", O_RDONLY | O_NONBLOCK));
    wr = OK(open("p", O_WRONLY));
    CHECK_ERR(read(rd, &c, 1), EAGAIN);
    OK(unlink("p"));
    OK(mkfifo("p", 0600)); /* another one */
    CHECK_ERR(open("p", O_WRONLY | O_NONBLOCK), ENXIO);
    CHECK_EQ(write(wr, "x", 1), 1);
    CHECK_EQ(read(rd, &c, 1), 1);
    return 0;
}
