/* Extra state of a server that runs as a session worker. Ordinary servers have
 * `srv->worker == NULL`. */
#ifndef RPC_WORKER_H
#define RPC_WORKER_H

#include <stdbool.h>
#include <stdint.h>

struct call;
struct server;
struct session_worker;
struct wsand_sandbox;

/* Gives up what the seal takes, and says that it is ready. False: it cannot,
 * and has said why. */
bool worker_begin(struct server *srv);
void worker_free(struct session_worker *w);

/* In a job, before its answer: sends the changes, and returns the number of the
 * commit. 0: nothing has changed, or the state could not be loaded before. Ends
 * the process if the changes cannot be sent. */
uint64_t worker_commit(struct session_worker *w, struct wsand_sandbox *sb,
                       bool with_script);
/* The method or parameter that a session does not have; NULL: all is fine. */
const char *worker_refuses(const struct call *q);

#endif
