/* ECHILD without a matching child, EINVAL for unknown options. */
#include "proc.h"

int
main(void)
{
    siginfo_t si;
    int st;

    CHECK_ERR(wait(&st), ECHILD);
    CHECK_ERR(waitpid(-1, &st, WNOHANG), ECHILD);
    CHECK_ERR(waitpid(getpid(), &st, 0), ECHILD);
    CHECK_ERR(waitpid(getppid(), &st, 0), ECHILD);
    CHECK_ERR(waitpid(-1, &st, 0x40), EINVAL);
    CHECK_ERR(waitid(P_ALL, 0, &si, 0), EINVAL);
    CHECK_ERR(waitid(P_ALL, 0, &si, WNOHANG), EINVAL);
    CHECK_ERR(waitid(P_ALL, 0, &si, WEXITED | 0x40), EINVAL);
    CHECK_ERR(waitid((idtype_t)77, 0, &si, WEXITED), EINVAL);
    CHECK_ERR(waitid(P_PID, 0, &si, WEXITED), EINVAL);
    CHECK_ERR(waitid(P_ALL, 0, &si, WEXITED), ECHILD);
    CHECK_ERR(waitid(P_PID, (id_t)getpid(), &si, WEXITED), ECHILD);
    return 0;
}
