/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "syscall.h"

int
statx(int dir, const char *restrict path, int flags, unsigned mask,
      struct statx *restrict ret)
{
    return syscall(SYS_statx, dir, path, flags, mask, ret);
}
