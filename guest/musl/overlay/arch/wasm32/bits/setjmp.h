/* SPDX-License-Identifier: MIT */
/* Words 0 to 3 belong to the compiler's lowering of setjmp: function id,
 * label, and the {env, value} pair that longjmp throws. */
typedef unsigned long __jmp_buf[6];
