/* SPDX-License-Identifier: MIT */
/* In mlock.c. */
