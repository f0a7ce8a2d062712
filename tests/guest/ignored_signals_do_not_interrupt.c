/* Ignored and blocked signals leave waiting calls alone. */
#include "proc.h"

int
main(int argc, char **argv)
{
    struct timespec some = ms_time(60), left = {7, 7};
    int p[2];
    pid_t pid;
    char c;

    if (argc > 1) {
        sleep_ms(30); /* several ticks in the parent's read */
        say(atoi(argv[1]), 'x');
        return 0;
    }
    OK(pipe(p));
    handle(SIGALRM, SIG_IGN, 0);
    tick(5);
    OK(nanosleep(&some, &left));
    CHECK_EQ(left.tv_sec, 7);
    CHECK_EQ(poll(NULL, 0, 30), 0);
    mask(SIG_BLOCK, SIGALRM); /* it still ticks */
    handle(SIGALRM, note, 0);
    tick(5);
    pid = SPAWN(num(p[1]));
    CHECK_EQ(read(p[0], &c, 1), 1);
    CHECK_EQ(wait_exit(pid), 0);
    CHECK(is_pending(SIGALRM));
    CHECK_EQ(caught[SIGALRM], 0);
    return 0;
}
