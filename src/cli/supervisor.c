/* What wasmsand-supervisor does, a program of its own without the engine. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* argv[1] is the supervisor's command. */
static int
become_supervisor(char **argv)
{
    char path[ROOT_PATH_BYTES];

    if (!find_beside("libexec/wasmsand-supervisor", path, sizeof path)) {
        complain("%s: libexec/wasmsand-supervisor is not there", argv[1]);
        return EXIT_NOT_FOUND;
    }
    argv[0] = path;
    (void)execv(path, argv);
    complain("%s: %s", path, strerror(errno));
    return EXIT_CANNOT_RUN;
}

int
cmd_supervisor(int argc, char **argv)
{
    (void)argc;
    return become_supervisor(argv - 1);
}

int
cmd_serve_sessions(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--probe") != 0)
        return become_supervisor(argv - 1);
    argv[1] = "probe";
    return become_supervisor(argv);
}
