/* A command of the host, from its start to its end. */
#include "host.h"

#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char **command_argv;

static void
run_command(void)
{
    posix_spawn_file_actions_t fa;
    pid_t pid;
    int status;

    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", 1, 0);
    NEED(posix_spawnp(&pid, command_argv[0], &fa, NULL, command_argv,
                      environ) == 0);
    posix_spawn_file_actions_destroy(&fa);
    NEED(waitpid(pid, &status, 0) == pid && status == 0);
}

int
command(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    bool in_us = !strcmp(argv[0], "exec");
    command_argv = argv + 2;
    report(argv[1], best_ns(run_command, 1) / (in_us ? 1e3 : 1e6),
           in_us ? "us" : "ms");
    return 0;
}
