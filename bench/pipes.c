/* A pipe between two processes: how much, and how soon. The other process is
 * this program again. */
#include "bench.h"

#include <spawn.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE = 65536, PIECES = 128, TRIPS = 500 };

static char buf[PIECE];
static int to_child, from_child;

/* --- the child */

/* All that comes, and a byte at the end. */
static int
drink(void)
{
    size_t left = (size_t)PIECE * PIECES;

    while (left) {
        ssize_t n = read(0, buf, PIECE);
        if (n <= 0)
            return n != 0;
        left -= (size_t)n;
        if (!left) {
            NEED(write(1, "x", 1) == 1);
            left = (size_t)PIECE * PIECES;
        }
    }
    return 1;
}

static int
echo(void)
{
    char c;

    while (read(0, &c, 1) == 1)
        NEED(write(1, &c, 1) == 1);
    return 0;
}

/* --- the parent */

static pid_t
start(const char *what)
{
    char *self = (char *)getauxval(AT_EXECFN);
    char *argv[] = {self, (char *)what, NULL}, *envp[] = {NULL};
    posix_spawn_file_actions_t fa;
    int in[2], out[2];
    pid_t pid;

    NEED(pipe(in) == 0 && pipe(out) == 0);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, in[0], 0);
    posix_spawn_file_actions_adddup2(&fa, out[1], 1);
    for (int i = 0; i < 2; i++) {
        posix_spawn_file_actions_addclose(&fa, in[i]);
        posix_spawn_file_actions_addclose(&fa, out[i]);
    }
    NEED(posix_spawn(&pid, self, &fa, NULL, argv, envp) == 0);
    posix_spawn_file_actions_destroy(&fa);
    close(in[0]);
    close(out[1]);
    to_child = in[1];
    from_child = out[0];
    return pid;
}

static void
stop(pid_t pid)
{
    int status;

    close(to_child);
    NEED(waitpid(pid, &status, 0) == pid && status == 0);
    close(from_child);
}

static void
pour(void)
{
    char c;

    for (int i = 0; i < PIECES; i++)
        NEED(write(to_child, buf, PIECE) == PIECE);
    NEED(read(from_child, &c, 1) == 1);
}

static void
ping(void)
{
    char c = 'p';

    for (int i = 0; i < TRIPS; i++) {
        NEED(write(to_child, &c, 1) == 1);
        NEED(read(from_child, &c, 1) == 1 && c == 'p');
    }
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        return strcmp(argv[1], "drink") == 0 ? drink() : echo();
    pid_t pid = start("drink");
    double bytes = (double)PIECE * PIECES;
    report("pipe", bytes / best_ns(pour, 1), "GB/s");
    stop(pid);
    pid = start("echo");
    report("ping-pong", best_ns(ping, TRIPS) / 1000, "us");
    stop(pid);
    return 0;
}
