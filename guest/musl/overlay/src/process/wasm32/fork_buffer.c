/* SPDX-License-Identifier: MIT */
/* The default asyncify buffer; see wfork.c. */
#include "../../../include/wasmsand.h"

WASMSAND_FORK_BUFFER(65536);
