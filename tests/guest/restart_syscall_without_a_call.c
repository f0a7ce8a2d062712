/* restart_syscall is for signal handling alone: a program gets EINTR. */
#include "guest.h"

int
main(void)
{
    CHECK_ERR(syscall(SYS_restart_syscall), EINTR);
    return 0;
}
