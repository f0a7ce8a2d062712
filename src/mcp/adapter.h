/* The MCP front end on standard input and output. */
#ifndef MCP_ADAPTER_H
#define MCP_ADAPTER_H

#include "rpc/server.h"

/* Serves MCP until the end of input. `create` is an object with the parameters
 * of the method `create`, as JSON. Returns the exit status. */
int adapter_main(const struct server_options *o, const char *create);

#endif
