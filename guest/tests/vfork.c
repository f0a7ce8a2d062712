/* SPDX-License-Identifier: MIT */
/* vfork, posix_spawn: children that exec, exit, fail, nest, get killed. Runs
 * itself with an argument as the program to execute. */
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

static char *self;
extern char **environ;

static int
status_of(pid_t pid)
{
    int status;

    CHECK(pid > 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static void
exit_in_child(void)
{
    pid_t parent = getpid(), pid;
    volatile int shared = 0;

    pid = vfork();
    if (pid == 0) {
        shared = 1;
        _exit(getppid() == parent ? 7 : 8);
    }
    CHECK(status_of(pid) == 7);
    CHECK(shared == 1 && getpid() == parent);
}

static void
exec_in_child(void)
{
    char *argv[] = {self, "exit", "9", NULL};
    pid_t pid = vfork();

    if (pid == 0) {
        execve("/no/such/program", argv, environ);
        execve(self, argv, environ);
        _exit(127);
    }
    CHECK(status_of(pid) == 9);
}

static void
many(void)
{
    for (volatile int i = 0; i < 20; i = i + 1) {
        pid_t pid = vfork();

        if (pid == 0)
            _exit(i);
        CHECK(status_of(pid) == i);
    }
}

static void
kill_in_child(void)
{
    pid_t pid = vfork();

    if (pid == 0) {
        kill(getpid(), SIGKILL);
        pause();
        _exit(1);
    }
    CHECK(status_of(pid) == 256 + SIGKILL);
}

static void
spawn(void)
{
    char *argv[] = {self, "exit", "5", NULL};
    pid_t pid;

    CHECK(posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0);
    CHECK(status_of(pid) == 5);
    CHECK(posix_spawn(&pid, "/no/such", NULL, NULL, argv, environ) == ENOENT);
    FAILS(waitpid(-1, NULL, 0), ECHILD);
}

static void
spawn_with_pipe(void)
{
    char *argv[] = {self, "print", "hello", NULL}, got[10] = "";
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int fds[2];

    CHECK(pipe(fds) == 0);
    CHECK(posix_spawn_file_actions_init(&actions) == 0);
    CHECK(posix_spawn_file_actions_adddup2(&actions, fds[1], 1) == 0);
    CHECK(posix_spawn_file_actions_addclose(&actions, fds[0]) == 0);
    CHECK(posix_spawn(&pid, self, &actions, NULL, argv, environ) == 0);
    close(fds[1]);
    CHECK(read(fds[0], got, sizeof got) == 5);
    CHECK(strcmp(got, "hello") == 0);
    CHECK(read(fds[0], got, sizeof got) == 0);
    CHECK(status_of(pid) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[0]);
}

int
main(int argc, char **argv)
{
    self = (char *)getauxval(AT_EXECFN);
    if (argc == 3 && strcmp(argv[1], "exit") == 0)
        return atoi(argv[2]);
    if (argc == 3 && strcmp(argv[1], "print") == 0)
        return write(1, argv[2], strlen(argv[2])) < 0;
    exit_in_child();
    exec_in_child();
    many();
    kill_in_child();
    spawn();
    spawn_with_pipe();
    return 0;
}
