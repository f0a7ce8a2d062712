/* Commands of wasmsand-supervisor, a separate program without the engine. It
 * may run as root, so it should contain as little code as possible. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* argv[0] is the supervisor's command. This process becomes the supervisor, so
 * signals and exit statuses need no forwarding. */
int
cmd_supervisor(int argc, char **argv)
{
    char path[ROOT_PATH_BYTES];

    (void)argc;
    if (!beside_find("libexec/wasmsand-supervisor", path, sizeof path)) {
        complain("%s: libexec/wasmsand-supervisor is not installed beside this "
                 "program",
                 argv[0]);
        return EXIT_NOT_FOUND;
    }
    argv[-1] = path;
    (void)execv(path, argv - 1);
    complain("%s: %s", path, strerror(errno));
    return EXIT_CANNOT_RUN;
}
