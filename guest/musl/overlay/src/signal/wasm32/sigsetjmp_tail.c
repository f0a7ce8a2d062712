/* SPDX-License-Identifier: MIT */
/* Not needed; see siglongjmp.c. */
