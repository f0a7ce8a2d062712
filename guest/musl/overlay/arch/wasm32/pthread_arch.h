/* SPDX-License-Identifier: MIT */
/* One thread runs at a time, so the thread pointer is an ordinary variable. The
 * kernel changes it when it lets another thread run. */
extern uintptr_t __wtp;

static inline uintptr_t
__get_tp(void)
{
    return __wtp;
}

#define MC_PC regs.pc
