/* SPDX-License-Identifier: MIT */
/* One thread, so the thread pointer is an ordinary variable. */
extern uintptr_t __wtp;

static inline uintptr_t
__get_tp(void)
{
    return __wtp;
}

#define MC_PC regs.pc
