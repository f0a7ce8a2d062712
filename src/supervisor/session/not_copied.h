/* The processes that a session's state had, which no copy of the state has. */
#ifndef SUPERVISOR_NOT_COPIED_H
#define SUPERVISOR_NOT_COPIED_H

#include "base/own.h"

#include <stddef.h>

struct session;
struct buf;

/* Notes them from the first records of the state, frames as store_read gives
 * them; a later call replaces them. */
void session_note_not_copied(struct session *s, const void *frames, size_t len);
/* The session as session_put_json has it, with the member notCopied where there
 * are such processes; then they are forgotten. */
void session_put_copied(struct session *s, struct buf *b);

#endif
