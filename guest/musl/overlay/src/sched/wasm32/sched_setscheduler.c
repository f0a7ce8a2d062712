/* SPDX-License-Identifier: MIT */
/* Where POSIX means a process, Linux means a thread, and musl refuses. As in
 * glibc, programs get the call of Linux. */
#include <sched.h>
#include "syscall.h"

int
sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
    return syscall(SYS_sched_setscheduler, pid, policy, param);
}
