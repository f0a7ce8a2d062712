/* WNOHANG: 0 while the child lives, its pid once it is dead, then ECHILD. */
#include "proc.h"

int
main(int argc, char **argv)
{
    int p[2], status = 0x5a5a;
    pid_t pid;

    if (argc > 1)
        return hear(atoi(argv[1])) == 'x' ? 6 : 1;
    OK(pipe(p));
    pid = SPAWN(num(p[0]));
    CHECK_EQ(waitpid(pid, &status, WNOHANG), 0);
    CHECK_EQ(status, 0x5a5a); /* untouched */
    CHECK_EQ(waitpid(-1, &status, WNOHANG), 0);
    say(p[1], 'x');
    wait_state(pid, 'Z');
    CHECK_EQ(waitpid(-1, &status, WNOHANG), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 6);
    CHECK_ERR(waitpid(-1, &status, WNOHANG), ECHILD);
    return 0;
}
