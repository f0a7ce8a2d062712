/* The Unix socket: who may connect, and lines of JSON on it. */
#ifndef SUPERVISOR_LISTEN_H
#define SUPERVISOR_LISTEN_H

#include "base/own.h"
#include "supervisor/reactor.h"

#include <stddef.h>

struct listener;
struct supervisor;

/* Binds `path` (0600; its folder is made, 0700, if it is not there). A socket
 * that nobody listens on any more is replaced. -EADDRINUSE: somebody does.
 * `why` has the text of an error. */
int listener_new(struct supervisor *sv, const char *path, char *why,
                 size_t size, OWN struct listener **ret);
/* Takes no more connections, and removes the socket. NULL is fine. */
void listener_free(OWN struct listener *l);

#endif
