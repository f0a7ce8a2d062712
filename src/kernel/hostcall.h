/* Commands of the host: a program hands its input over, and waits for what the
 * host answers. */
#ifndef KERNEL_HOSTCALL_H
#define KERNEL_HOSTCALL_H

#include "base/own.h"
#include "kernel/task.h"

/* A call on its way. The kernel's hook makes it, with `drop` set; the process
 * that waits holds it. */
struct hostcall {
    struct call_hold hold; /* its drop: frees it, answered or not */
    struct waitq answered;
    bool is_answered;
    int status;
    OWN char *out, *err; /* NULL where there is nothing */
    size_t out_len, err_len;
};

void hostcall_init(struct hostcall *c, void (*drop)(OWN struct call_hold *h));
void hostcall_fini(struct hostcall *c);
/* Takes the bytes over. */
void hostcall_answer(struct hostcall *c, int status, OWN char *out,
                     size_t out_len, OWN char *err, size_t err_len);

#endif
