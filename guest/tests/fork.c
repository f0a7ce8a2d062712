/* SPDX-License-Identifier: MIT */
/* post: fork */
/* fork: a copy of memory, stack and setjmp points; many levels, in loops and
 * under frames of other functions. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

static int shared = 1;

static int
status_of(pid_t pid)
{
    int status;

    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int
fork_below(int depth)
{
    volatile int keep = depth * 3;
    int r;

    if (depth == 0)
        return fork();
    r = fork_below(depth - 1);
    CHECK(keep == depth * 3);
    return r;
}

static void
private_memory(void)
{
    int local = 5;
    pid_t pid = fork();

    if (pid == 0) {
        local++;
        shared++;
        _exit(local * 10 + shared);
    }
    CHECK(status_of(pid) == 62);
    CHECK(local == 5 && shared == 1);
}

static void
deep_stack(void)
{
    pid_t pid = fork_below(60);

    if (pid == 0)
        _exit(11);
    CHECK(status_of(pid) == 11);
}

static void
jump_in_child(void)
{
    jmp_buf env;
    volatile pid_t pid = -1;
    int r = setjmp(env);

    if (r == 0) {
        pid = fork();
        if (pid == 0)
            longjmp(env, 21);
    }
    if (pid == 0)
        _exit(r);
    CHECK(r == 0 && status_of(pid) == 21);
}

static void
grandchildren(int levels)
{
    pid_t pid = fork();

    if (pid == 0) {
        if (levels > 1)
            grandchildren(levels - 1);
        _exit(levels);
    }
    CHECK(status_of(pid) == levels);
}

static void
in_a_loop(void)
{
    pid_t pids[10];

    for (int i = 0; i < 10; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(i);
    }
    for (int i = 0; i < 10; i++)
        CHECK(status_of(pids[i]) == i);
}

int
main(void)
{
    private_memory();
    deep_stack();
    jump_in_child();
    grandchildren(4);
    in_a_loop();
    FAILS(wait(NULL), ECHILD);
    return 0;
}
