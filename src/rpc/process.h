/* Processes of process.start, for others than their handlers (do_process.c). */
#ifndef RPC_PROCESS_H
#define RPC_PROCESS_H

struct slot;

void process_free_all(struct slot *slot);
/* Answers all calls of process.wait, because the sandbox is gone. */
void process_refuse_waiters(struct slot *slot);
/* The client has read: processes whose output waited for that continue. */
void process_resume_all(struct slot *slot);

#endif
