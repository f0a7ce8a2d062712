/* ONLCR on output; ICRNL, INLCR and IGNCR on input. */
#include "tty.h"

static void
set_io(int fd, tcflag_t in, tcflag_t out)
{
    struct termios tio = modes(fd);

    tio.c_iflag = (tio.c_iflag & ~(tcflag_t)(ICRNL | INLCR | IGNCR)) | in;
    tio.c_oflag = out;
    tio.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    OK(tcsetattr(fd, TCSANOW, &tio));
}

int
main(void)
{
    struct pty t = pty_new();

    type(t.slave, "a\nb\r\n");
    EXPECT(t.master, "a\r\nb\r\r\n");
    set_io(t.slave, ICRNL, OPOST);
    type(t.slave, "a\nb");
    EXPECT(t.master, "a\nb");
    type(t.master, "x\ry\n");
    EXPECT(t.slave, "x\ny\n");
    set_io(t.slave, INLCR, OPOST | OCRNL);
    type(t.slave, "a\rb");
    EXPECT(t.master, "a\nb");
    type(t.master, "x\ry\n");
    EXPECT(t.slave, "x\ry\r");
    set_io(t.slave, IGNCR, ONLCR); /* without OPOST nothing is translated */
    type(t.slave, "a\n");
    EXPECT(t.master, "a\n");
    type(t.master, "x\ry\n");
    EXPECT(t.slave, "xy\n");
    return 0;
}
