/* Commands of the host: a program passes its input to the host and waits for
 * the answer. */
#ifndef KERNEL_HOSTCALL_H
#define KERNEL_HOSTCALL_H

#include "base/own.h"
#include "kernel/task.h"

/* A pending call. The kernel's hook creates it, with `drop` set, and the
 * waiting process holds it. */
struct hostcall {
    struct call_hold hold; /* its drop frees it, answered or not */
    struct waitq answered;
    bool is_answered;
    int status;
    OWN char *out, *err; /* NULL if empty */
    size_t out_len, err_len;
};

/* Initialises a call. hostcall_fini frees the answer, and wakes the waiter. */
void hostcall_init(struct hostcall *c, void (*drop)(OWN struct call_hold *h));
void hostcall_fini(struct hostcall *c);
/* Answers the call; consumes the bytes. */
void hostcall_answer(struct hostcall *c, int status, OWN char *out,
                     size_t out_len, OWN char *err, size_t err_len);

#endif
