/* The server as a worker of the supervisor: it serves one session, whose state
 * are the changes of its disk. The descriptors are those of
 * supervisor/workers/worker.h. */
#ifndef V86_WORKER_H
#define V86_WORKER_H

struct v86_server;

enum { V86_STATE_HFD = 3 };

/* Gives up the rights to everything outside. Returns 0, or -errno after
 * reporting the failed step. */
int v86_worker_seal(void);
/* If the zygote has the state of a session, boots the image without it: a reset
 * goes back to the image. Returns 0 or -errno. */
int v86_worker_renew(struct v86_server *s);
/* Reports that the machine has booted. */
void v86_worker_ready(struct v86_server *s);

#endif
