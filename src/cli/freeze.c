/* wasm-sandbox freeze: pre-initialised programs for root images. The build runs
 * it for bash and python3; lib/freeze.c does the work. */
#include "cli/cli.h"
#include "cli/request.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: wasm-sandbox freeze --root IMAGE [OPTION]... /PROGRAM OUT.wasm\n"
    "Runs a program until it is initialised, and writes it as a program that\n"
    "starts in that state. The program must support this, as bash and python3\n"
    "of the root image do. For building root images.\n\n";

/* Creates a sandbox for this one program and writes the frozen module to
 * hfd. */
static int
freeze(struct exec_request *q, int hfd)
{
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .root_image = q->root};
    struct wsand_runtime *rt = NULL;
    struct wsand_sandbox *sb = NULL;
    struct wsand_error err = {0};

    int r = wsand_runtime_new(&ro, &rt, &err);
    if (r == 0)
        r = wsand_sandbox_new(rt, &q->sandbox, &sb, &err);
    if (r == 0)
        r = wsand_freeze(sb, &q->exec, hfd, &err);
    if (r < 0)
        complain("%s", wsand_error_text(&err));
    wsand_sandbox_free(sb);
    wsand_runtime_free(rt);
    return r < 0 ? EXIT_USAGE : 0;
}

/* The variable asks the program to stop when it is initialised, which bash and
 * python3 do with a system call of ours. The name of the program is its
 * argv[0], as a shell would set it. A file that was not written completely is
 * removed. */
int
cmd_freeze(int argc, char **argv)
{
    CLEANUP(request_fini) struct exec_request q;
    int rest;

    request_init(&q);
    q.exec.cwd = "/home/user";
    q.env[q.n_env++] = "WASMSAND_RESIDENT=1";
    int status = request_parse(&q, argc, argv, help, false, &rest);
    if (status >= 0)
        return status;
    if (!q.root || argc - rest != 2) {
        complain(
            "freeze: needs --root IMAGE, a program and an output file; see "
            "wasm-sandbox freeze --help");
        return EXIT_USAGE;
    }
    const char *name = strrchr(argv[rest], '/');
    const char *const program_argv[] = {name ? name + 1 : argv[rest], NULL};
    q.exec.path = argv[rest];
    q.exec.argv = program_argv;
    int hfd =
        open(argv[rest + 1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (hfd < 0) {
        complain("%s: %s", argv[rest + 1], strerror(errno));
        return EXIT_USAGE;
    }
    status = freeze(&q, hfd);
    if (close(hfd) < 0 && status == 0)
        status = EXIT_USAGE;
    if (status)
        (void)unlink(argv[rest + 1]);
    return status;
}
