/* The form of answers, for the core itself. */
#ifndef WIRE_ANSWER_H
#define WIRE_ANSWER_H

#include "wire/message.h"

struct peer;

/* Delivers a whole answer with its newline, or (len 0) none, which counts in a
 * batch: the last one sends all answers of the batch in one line. msg: NULL if
 * there is none. */
void answer_deliver(struct peer *p, struct message *msg, const char *line,
                    size_t len);
/* An error of the line protocol, and a newline; id: as JSON, or NULL. */
void put_line_error(struct buf *b, const char *type, const char *id,
                    const char *text);

#endif
