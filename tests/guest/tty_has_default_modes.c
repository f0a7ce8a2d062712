/* A new terminal is cooked; tcsetattr is seen by all; ENOTTY elsewhere. */
#include "tty.h"

int
main(void)
{
    struct pty t = pty_new();
    struct termios tio = modes(t.slave);
    int p[2];

    CHECK((tio.c_lflag & (ICANON | ECHO | ISIG | IEXTEN)) ==
          (ICANON | ECHO | ISIG | IEXTEN));
    CHECK((tio.c_iflag & ICRNL) && (tio.c_oflag & OPOST));
    CHECK((tio.c_oflag & ONLCR) && (tio.c_cflag & CREAD));
    CHECK_EQ(tio.c_cflag & CSIZE, CS8);
    CHECK_EQ(tio.c_cc[VINTR], 3);
    CHECK_EQ(tio.c_cc[VEOF], 4);
    CHECK_EQ(tio.c_cc[VERASE], 127);
    CHECK_EQ(tio.c_cc[VKILL], 21);
    CHECK_EQ(tio.c_cc[VSUSP], 26);
    CHECK_EQ(tio.c_cc[VMIN], 1);
    CHECK_EQ(cfgetospeed(&tio), B38400);
    tio.c_cc[VINTR] = 'q';
    tio.c_lflag &= (tcflag_t)~ECHO;
    OK(tcsetattr(t.slave, TCSADRAIN, &tio));
    tio = modes(t.master); /* the master shows the slave's modes */
    CHECK_EQ(tio.c_cc[VINTR], 'q');
    CHECK_EQ(tio.c_lflag & ECHO, 0);
    OK(pipe(p));
    CHECK_ERR(tcgetattr(p[0], &tio), ENOTTY);
    CHECK_ERR(tcsetattr(t.slave, 77, &tio), EINVAL);
    return 0;
}
