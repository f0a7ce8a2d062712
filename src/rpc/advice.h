/* Texts that say which limit a run has hit, and what to do about it. */
#ifndef RPC_ADVICE_H
#define RPC_ADVICE_H

#include "wasmsand.h"
#include "wire/call.h"

/* Adds the member `message` to the result of a run that was ended by a limit,
 * or whose output was cut by one; nothing where there is nothing to say. */
void put_message(struct buf *b, const struct call *q,
                 const struct wsand_output *o);

#endif
