/* The broker gets its two sockets as descriptors 0 and 1, and of the owner's
 * descriptors only standard error. Others would give a compromised broker
 * rights that it does not need. */
#include "broker/process.h"

#include "base/os_spawn.h"
#include "net/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    RESOLVERS_BYTES = 1024,
    FIRST_HFD = 3,
    BUFFER_BYTES = 1 << 20, /* for the answers to many requests at a time */
};

/* Descriptors 0 and 1 are the sockets, 2 stays, and all others are closed. */
static int
broker_process_files(posix_spawn_file_actions_t *files, int requests,
                     int policy)
{
    int r =
        posix_spawn_file_actions_adddup2(files, requests, MESSAGE_REQUESTS_HFD);

    if (!r)
        r = posix_spawn_file_actions_adddup2(files, policy, MESSAGE_POLICY_HFD);
    if (!r)
        r = posix_spawn_file_actions_addclosefrom_np(files, FIRST_HFD);
    return r;
}

int
broker_process_start(const char *program, const char *resolvers, int requests,
                     int policy, pid_t *ret_pid)
{
    char option[RESOLVERS_BYTES];
    char *const argv[] = {(char[]){"wasmsand-netd"}, resolvers ? option : NULL,
                          NULL};
    posix_spawn_file_actions_t files;

    (void)snprintf(option, sizeof option, "--resolvers=%s",
                   resolvers ? resolvers : "");
    if (posix_spawn_file_actions_init(&files))
        return -ENOMEM;
    int r = broker_process_files(&files, requests, policy);
    pid_t pid = r ? -r : os_spawn(program, &files, argv);
    (void)posix_spawn_file_actions_destroy(&files);
    if (pid < 0)
        return pid;
    *ret_pid = pid;
    return 0;
}

/* The numbers of the new descriptors are above 2, so that none is overwritten
 * before it is used. */
int
broker_process_pair(OWN int *ret_ours, OWN int *ret_theirs)
{
    const int size = BUFFER_BYTES;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    for (int i = 0; i < 2; i++) {
        int up = fcntl(pair[i], F_DUPFD_CLOEXEC, FIRST_HFD);
        close(pair[i]);
        pair[i] = up;
        (void)setsockopt(up, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    }
    *ret_ours = pair[0];
    *ret_theirs = pair[1];
    return pair[0] < 0 || pair[1] < 0 ? -EMFILE : 0;
}
