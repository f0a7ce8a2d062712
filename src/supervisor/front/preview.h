/* Previews: HTTP requests from outside to servers inside of sessions.
 *
 * Guests write the pages that are served here. Therefore previews have a
 * listener and host names of their own, PORT-SESSION.DOMAIN: to a browser, each
 * is another site than the others and than the supervisor's API. */
#ifndef SUPERVISOR_PREVIEW_H
#define SUPERVISOR_PREVIEW_H

#include "base/own.h"

struct buf;
struct previews;
struct supervisor;

/* Listens as configured in sv->config, and sets sv->preview_port and
 * sv->preview_key. -EINVAL: `errors` contains lines. */
int previews_new(struct supervisor *sv, struct buf *errors,
                 OWN struct previews **ret);
/* Closes all connections. Accepts NULL. */
void previews_free(OWN struct previews *all);

DEFINE_CLEANUP(struct previews *, previews_free)

#endif
