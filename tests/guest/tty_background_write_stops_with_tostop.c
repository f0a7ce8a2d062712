/* Background output: free, or SIGTTOU with TOSTOP; tcsetattr always stops. */
#include "tty.h"

static int
job(const char *how)
{
    int fd = OK(open("/dev/tty", O_RDWR));
    struct termios tio = modes(fd); /* reading modes is allowed */

    if (how[0] == 'i')
        handle(SIGTTOU, SIG_IGN, 0);
    if (how[1] == 'w')
        type(fd, how);
    else
        OK(tcsetattr(fd, TCSANOW, &tio));
    return 3;
}

static void
expect_stop(const char *how)
{
    pid_t pid = SPAWN_JOB("job", how);

    CHECK_EQ(wait_stopped(pid), SIGTTOU);
    end_child(pid);
}

static int
session(const char *name)
{
    int fd = start_session(name);

    CHECK_EQ(wait_exit(SPAWN_JOB("job", "pw1")), 3);
    set_lflag(fd, 0, TOSTOP);
    expect_stop("pw2");
    CHECK_EQ(wait_exit(SPAWN_JOB("job", "iw3")), 3);
    set_lflag(fd, TOSTOP, 0);
    expect_stop("pt");
    CHECK_EQ(wait_exit(SPAWN_JOB("job", "it")), 3);
    return 0;
}

int
main(int argc, char **argv)
{
    struct pty t;
    pid_t pid;

    if (argc > 2)
        return job(argv[2]);
    if (argc > 1)
        return session(argv[1]);
    t = pty_new();
    pid = SPAWN(t.name);
    EXPECT(t.master, "pw1iw3"); /* pw2 was never written */
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}
