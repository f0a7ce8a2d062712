/* wasm-sandbox exec: one program in a fresh sandbox, which ends with it.
 *
 * The program is a file of the host, or a path inside the root image. request.c
 * parses the options, and run.c runs the program. */
#include "cli/cli.h"
#include "cli/request.h"

#include "base/own.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: wasm-sandbox exec [OPTION]... PROGRAM.wasm [ARG]...\n"
    "       wasm-sandbox exec --root IMAGE [OPTION]... /PROGRAM [ARG]...\n"
    "Runs one program in a fresh sandbox, with standard input and output\n"
    "passed through; exits with its status (128+n for signal n). With a "
    "root\n"
    "image (--root or --image), an absolute path names a program in the "
    "image.\n\n";

/* Puts the program into the sandbox as /bin/NAME, without the ending. Returns
 * false after reporting an error. */
static bool
exec_add_program(struct exec_request *q, const char *host_path)
{
    const char *base = strrchr(host_path, '/');
    char guest_path[NAME_MAX_BYTES + 16];

    base = base ? base + 1 : host_path;
    size_t len = strlen(base);
    if (len > 5 && !strcmp(base + len - 5, ".wasm"))
        len -= 5;
    if (!len || len > NAME_MAX_BYTES || !strncmp(base, "..", len)) {
        complain("%s: not a file name", host_path);
        return false;
    }
    (void)snprintf(guest_path, sizeof guest_path, "/bin/%.*s", (int)len, base);
    if (!request_add_program(q, host_path, guest_path, false))
        return false;
    q->exec.path = q->programs[q->sandbox.n_programs - 1].guest_path;
    return true;
}

/* With a root image, an absolute path is a path inside of the image. Statuses
 * for a program that cannot be added are those of a shell. */
int
cmd_exec(int argc, char **argv)
{
    static char root[ROOT_PATH_BYTES];
    CLEANUP(request_fini) struct exec_request q;
    int rest;

    request_init(&q);
    int status = request_parse(&q, argc, argv, help, false, &rest);
    if (status >= 0)
        return status;
    if (rest == argc) {
        complain("exec: no program; see wasm-sandbox exec --help");
        return EXIT_USAGE;
    }
    if (q.sandbox.image && !q.root && beside_find_root(root, sizeof root))
        q.root = root;
    if ((q.root || q.sandbox.image) && argv[rest][0] == '/')
        q.exec.path = argv[rest];
    else if (!exec_add_program(&q, argv[rest]))
        return *argv[rest] ? EXIT_CANNOT_RUN : EXIT_NOT_FOUND;
    q.exec.argv = (const char *const *)argv + rest;
    return request_run(&q, argv[rest]);
}
