/* SIGCONT continues a stopped process whether ignored, blocked or handled. */
#include "proc.h"

static int
child(const char *how, int out)
{
    if (strcmp(how, "ignored") == 0)
        handle(SIGCONT, SIG_IGN, 0);
    if (strcmp(how, "blocked") == 0)
        mask(SIG_BLOCK, SIGCONT);
    if (strcmp(how, "handled") == 0)
        handle(SIGCONT, note, 0);
    raise(SIGSTOP);
    CHECK_EQ(caught[SIGCONT], strcmp(how, "handled") == 0);
    CHECK_EQ(is_pending(SIGCONT), strcmp(how, "blocked") == 0);
    say(out, how[0]);
    return 0;
}

int
main(int argc, char **argv)
{
    static const char *how[] = {"plain", "ignored", "blocked", "handled"};
    struct pollfd pf = {.events = POLLIN};
    int p[2], i;

    if (argc > 2)
        return child(argv[1], atoi(argv[2]));
    report_pipe(p);
    pf.fd = p[0];
    for (i = 0; i < 4; i++) {
        pid_t pid = SPAWN(how[i], num(p[1]));

        CHECK_EQ(wait_stopped(pid), SIGSTOP);
        CHECK_EQ(poll(&pf, 1, 0), 0);
        OK(kill(pid, SIGCONT));
        CHECK_EQ(hear(p[0]), how[i][0]);
        CHECK_EQ(wait_exit(pid), 0);
    }
    return 0;
}
