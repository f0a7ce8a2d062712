/* wasm-sandbox shell: bash of the root image, in a fresh sandbox that ends with
 * it. Options of ours come first; everything from the first unknown word on
 * belongs to bash. */
#include "cli/cli.h"
#include "cli/request.h"

#include "base/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: wasm-sandbox shell [OPTION]... [BASH-ARG]...\n"
    "Runs bash in a fresh sandbox, as `bash BASH-ARG...` would: a terminal "
    "gets\n"
    "an interactive shell; -c COMMAND, a script of the sandbox, or a script "
    "on\n"
    "standard input work as usual.\n\n";

/* Limits for projects with their dependencies, and for scripts as commands. */
enum { FILES = 100000, COMMAND_BYTES = 1 << 20 };

/* The name "bash" takes the place of the last option in argv, as argv[0] of
 * bash. */
int
cmd_shell(int argc, char **argv)
{
    static char root[ROOT_PATH_BYTES];
    CLEANUP(request_fini) struct exec_request q;
    int rest;

    request_init(&q);
    q.sandbox.files = FILES;
    q.sandbox.command_bytes = COMMAND_BYTES;
    q.sandbox.needs_shell = true;
    q.is_shell = true;
    int status = request_parse(&q, argc, argv, help, true, &rest);
    if (status >= 0)
        return status;
    if (!q.exec.cwd)
        q.exec.cwd = request_home(&q);
    if (!q.root && beside_find_root(root, sizeof root))
        q.root = root;
    if (!q.root) {
        complain("shell: no root image; `make rootfs` builds one, --root "
                 "IMAGE names one");
        return EXIT_USAGE;
    }
    q.exec.path = "/bin/bash";
    argv[rest - 1] = (char[]){"bash"};
    q.exec.argv = (const char *const *)argv + rest - 1;
    return request_run(&q, "bash");
}
