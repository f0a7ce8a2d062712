/* The processes of a session's state, which copies of the state do not have. */
#ifndef SUPERVISOR_NOT_COPIED_H
#define SUPERVISOR_NOT_COPIED_H

#include "base/own.h"

#include <stddef.h>

struct session;
struct buf;

/* Saves them from the first records of the state, in the frames of store_read;
 * a later call replaces them. */
void session_keep_not_copied(struct session *s, const void *frames, size_t len);
/* Writes the session as session_put_json does, with the member notCopied if
 * there are such processes; then they are dropped. */
void session_put_copied(struct session *s, struct buf *b);

#endif
