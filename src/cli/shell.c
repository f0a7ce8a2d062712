/* wasm-sandbox shell: bash of the root image. */
#include "cli/cli.h"
#include "cli/request.h"

#include "base/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXE_PATH_BYTES = 1024 };

static const char help[] =
    "usage: wasm-sandbox shell [OPTION]... [BASH-ARG]...\n"
    "Runs bash in a fresh sandbox, as `bash BASH-ARG...` would: a terminal "
    "gets\n"
    "an interactive shell; -c COMMAND, a script of the sandbox, or a script "
    "on\n"
    "standard input work as usual. With --resident after the options, each "
    "line\n"
    "of standard input is a command of one shell that stays.\n\n";

bool
find_root(char *buf, size_t size)
{
    static const char *const places[] = {"share/wasmsand/root.tar",
                                         "../share/wasmsand/root.tar"};
    const char *given = getenv("WASMSAND_ROOT");
    char exe[EXE_PATH_BYTES];

    if (given) {
        (void)snprintf(buf, size, "%s", given);
        return true;
    }
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n < 0)
        return false;
    exe[n] = 0;
    *strrchr(exe, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        (void)snprintf(buf, size, "%s/%s", exe, places[i]);
        if (access(buf, R_OK) == 0)
            return true;
    }
    return false;
}

int
cmd_shell(int argc, char **argv)
{
    static char root[ROOT_PATH_BYTES];
    CLEANUP(request_fini) struct request q;
    int rest;

    request_init(&q);
    q.exec.cwd = "/home/user";
    int status = request_parse(&q, argc, argv, help, true, &rest);
    if (status >= 0)
        return status;
    if (!q.root && find_root(root, sizeof root))
        q.root = root;
    if (!q.root) {
        complain("shell: no root image; `make rootfs` builds one, --root "
                 "IMAGE names one");
        return EXIT_USAGE;
    }
    if (argc - rest == 1 && !strcmp(argv[rest], "--resident"))
        return resident_session(&q);
    q.exec.path = "/bin/bash";
    argv[rest - 1] = (char[]){"bash"};
    q.exec.argv = (const char *const *)argv + rest - 1;
    return request_run(&q, "bash");
}
