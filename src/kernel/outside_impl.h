/* Between the files of outside.h. */
#ifndef KERNEL_OUTSIDE_IMPL_H
#define KERNEL_OUTSIDE_IMPL_H

#include "kernel/outside.h"

/* --- outside_end.c */

/* Gives s an end that is not connected yet. -ENOMEM */
int outside_end_new(struct socket *s, uint64_t run_tag);
/* Sets the connected descriptor. */
void outside_end_open(struct outside_end *e, OWN int hfd);
/* Closes the descriptor; the end stays, and reads as reset. */
void outside_end_close(struct outside_end *e);
void outside_end_free(OWN struct outside_end *e);

/* --- outside.c */

/* Sends a request, to a new broker if the last one has ended. */
int outside_ask(struct outside *o, const struct message_request *q);
/* Wakes the senders of first bytes when the broker takes requests again. */
void outside_stall(struct outside *o);
/* Resets all connections of a broker that is gone. Returns the error of e. */
int64_t outside_first_failed(struct outside_end *e);
/* Lets the scheduler watch for answers, if one may come. */
void outside_watch(struct outside *o);

/* --- outside_names.c */

void outside_names_answer(struct outside *o, const struct message_answer *a);
/* Answers all questions with a failure. */
void outside_names_fail(struct outside *o);
/* Forgets the questions of a socket. */
void outside_names_forget(struct outside *o, const struct socket *s);

#endif
