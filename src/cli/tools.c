/* --tools: the programs of a host folder as commands of the sandbox.
 * rpc/tools.h finds them. */
#include "cli/cli.h"
#include "cli/request.h"

#include "rpc/tools.h"

#include <errno.h>
#include <string.h>

/* The error has been reported. */
enum { SAID = -ECANCELED };

/* A program of --tools must be able to run: with is_checked, creating the
 * sandbox fails otherwise, with a message that names the program. */
static int
tools_add_tool(void *arg, const char *host_path, const char *guest_path)
{
    return request_add_program(arg, host_path, guest_path, true) ? 0 : SAID;
}

bool
tools_add(struct exec_request *q, const char *dir)
{
    int r = tools_scan(dir, tools_add_tool, q);

    if (r < 0 && r != SAID)
        complain("--tools: %s: %s", dir, strerror(-r));
    return r == 0;
}
