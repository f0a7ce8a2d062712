/* SPDX-License-Identifier: MIT */
#include <wasmsand.h>

WASMSAND_FORK_BUFFER(4194304);
