/* The Unix socket: access control, and lines of JSON. */
#ifndef SUPERVISOR_LISTENER_H
#define SUPERVISOR_LISTENER_H

#include "base/own.h"
#include "supervisor/common/reactor.h"

#include <stddef.h>

struct listener;
struct supervisor;

/* Creates a listener for `path`, whose folder is created (0700) if it is
 * missing. -EADDRINUSE: another process listens there. `why` contains the text
 * of an error. */
int listener_new(struct supervisor *sv, const char *path, char *why,
                 size_t size, OWN struct listener **ret);
/* Binds the socket (0600). A socket without a listener is replaced. */
int listener_begin(struct listener *l, char *why, size_t size);
/* Stops accepting connections, and removes the socket. Accepts NULL. */
void listener_free(OWN struct listener *l);

#endif
