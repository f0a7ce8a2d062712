/* The native host: Linux. The kernel gets host_native when it is created. */
#ifndef HOST_NATIVE_H
#define HOST_NATIVE_H

#include "base/host.h"
#include "base/own.h"

extern const struct host_ops host_native;

/* Creates a sink that writes each line to a copy of hfd. Returns 0 or
 * -errno. */
int host_sink_open(int hfd, OWN struct host_sink **ret);
void host_sink_close(OWN struct host_sink *s); /* NULL is fine */

#endif
