/* Helpers for tests of pseudo-terminals and job control. */
#ifndef TTY_H
#define TTY_H

#include "proc.h"

#include <sys/ioctl.h>
#include <termios.h>

struct pty {
    int master, slave; /* not inherited by children */
    char name[64];
};

static UNUSED struct pty
pty_new(void)
{
    struct pty t;

    t.master = OK(posix_openpt(O_RDWR | O_NOCTTY));
    keep_private(t.master);
    OK(grantpt(t.master));
    OK(unlockpt(t.master));
    CHECK_EQ(ptsname_r(t.master, t.name, sizeof t.name), 0);
    t.slave = OK(open(t.name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    return t;
}

static UNUSED struct termios
modes(int fd)
{
    struct termios tio;

    OK(tcgetattr(fd, &tio));
    return tio;
}

/* Clears and sets flags of c_lflag. */
static UNUSED void
set_lflag(int fd, tcflag_t off, tcflag_t on)
{
    struct termios tio = modes(fd);

    tio.c_lflag = (tio.c_lflag & ~off) | on;
    OK(tcsetattr(fd, TCSANOW, &tio));
}

/* Raw mode, where a read waits for min bytes or time tenths of a second. */
static UNUSED void
set_raw(int fd, int min, int time)
{
    struct termios tio = modes(fd);

    cfmakeraw(&tio);
    tio.c_cc[VMIN] = (cc_t)min;
    tio.c_cc[VTIME] = (cc_t)time;
    OK(tcsetattr(fd, TCSANOW, &tio));
}

static UNUSED void
type(int fd, const char *text)
{
    CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
}

/* The next bytes are exactly text, in however many pieces. */
#define EXPECT(fd, text)                                                    \
    do {                                                                    \
        char got_text_[256] = "";                                           \
        size_t done_ = 0, want_len_ = strlen(text);                         \
        while (done_ < want_len_)                                           \
            done_ +=                                                        \
                (size_t)OK(read(fd, got_text_ + done_, want_len_ - done_)); \
        CHECK_STR(got_text_, text);                                         \
    } while (0)

/* One read gives exactly text. */
#define EXPECT_READ(fd, text)                             \
    do {                                                  \
        char got_text_[256] = "";                         \
        CHECK_EQ(read(fd, got_text_, 255), strlen(text)); \
        CHECK_STR(got_text_, text);                       \
    } while (0)

static UNUSED int
is_readable(int fd)
{
    struct pollfd pf = {.fd = fd, .events = POLLIN};

    return OK(poll(&pf, 1, 0)) == 1;
}

/* Makes a new session whose controlling terminal is name; a descriptor. */
static UNUSED int
start_session(const char *name)
{
    OK(setsid());
    return OK(open(name, O_RDWR | O_CLOEXEC));
}

/* Starts this program again in a process group of its own. */
#define SPAWN_JOB(...) spawn_job((const char *[]){"child", __VA_ARGS__, NULL})

static UNUSED pid_t
spawn_job(const char *const *argv)
{
    posix_spawnattr_t at;
    pid_t pid;

    CHECK_EQ(posix_spawnattr_init(&at), 0);
    CHECK_EQ(posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP), 0);
    errno = posix_spawn(&pid, "/proc/self/exe", NULL, &at, (char *const *)argv,
                        environ);
    CHECK(errno == 0);
    return pid;
}

#endif
