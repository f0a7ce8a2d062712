/* The Unix socket: who may connect, and lines of JSON on it. */
#ifndef SUPERVISOR_LISTEN_H
#define SUPERVISOR_LISTEN_H

#include "base/own.h"
#include "supervisor/common/reactor.h"

#include <stddef.h>

struct listener;
struct supervisor;

/* For `path`, whose folder is made (0700) if it is not there. -EADDRINUSE:
 * somebody listens there. `why` has the text of an error. */
int listener_new(struct supervisor *sv, const char *path, char *why,
                 size_t size, OWN struct listener **ret);
/* Binds it (0600). A socket that nobody listens on any more is replaced. */
int listener_begin(struct listener *l, char *why, size_t size);
/* Takes no more connections, and removes the socket. NULL is fine. */
void listener_free(OWN struct listener *l);

#endif
