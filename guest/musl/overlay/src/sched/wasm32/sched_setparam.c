/* SPDX-License-Identifier: MIT */
/* See sched_setscheduler.c. */
#include <sched.h>
#include "syscall.h"

int
sched_setparam(pid_t pid, const struct sched_param *param)
{
    return syscall(SYS_sched_setparam, pid, param);
}
