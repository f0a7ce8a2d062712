/* SPDX-License-Identifier: MIT */
/* A macro; see siglongjmp.c. */
