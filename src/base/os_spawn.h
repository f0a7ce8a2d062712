/* Starting a helper process of a library that has threads. */
#ifndef BASE_OS_SPAWN_H
#define BASE_OS_SPAWN_H

#include <signal.h>
#include <spawn.h>

/* Starts the program at `path` with these descriptors and an empty environment.
 * The process has no blocked and no ignored signals, and a session of its own:
 * signals of the terminal do not reach it. Returns the pid, or -error.
 *
 * posix_spawn does not copy the memory of this process, and is safe beside
 * other threads, whose locks a fork would copy in any state. */
static inline pid_t
os_spawn(const char *path, const posix_spawn_file_actions_t *files,
         char *const argv[])
{
    char *const envp[] = {NULL};
    posix_spawnattr_t attr;
    sigset_t none, all;
    pid_t pid = -1;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int r = posix_spawnattr_init(&attr);
    if (r)
        return -r;
    r = posix_spawnattr_setsigmask(&attr, &none);
    if (!r)
        r = posix_spawnattr_setsigdefault(&attr, &all);
    if (!r)
        r = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
                                                POSIX_SPAWN_SETSIGDEF |
                                                POSIX_SPAWN_SETSID);
    if (!r)
        r = posix_spawn(&pid, path, files, &attr, argv, envp);
    (void)posix_spawnattr_destroy(&attr);
    return r ? -r : pid;
}

#endif
