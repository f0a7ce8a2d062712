/* The spawner starts processes in groups and namespaces of their own, on order
 * of the supervisor.
 *
 * It is a separate process for two reasons. Starting a process takes
 * milliseconds and would block the event loop. And children begin as copies of
 * a small process that knows no secrets. They are the supervisor's children,
 * not the spawner's. */
#ifndef SUPERVISOR_SPAWNER_H
#define SUPERVISOR_SPAWNER_H

#include "supervisor/jail/jail.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SPAWN_ARGS_MAX = 512,
    SPAWN_ORDER_BYTES = 96 << 10,
};

/* An order, followed by argv, envp and read as consecutive strings. */
struct spawn_order {
    uint64_t id;
    uint32_t is_command; /* in a jail as of `limit`; otherwise a worker */
    uint32_t limit[N_LIMITS];
    uint32_t n_argv, n_envp, n_read;
};

/* Descriptors that come with the answer. */
enum spawn_hfd {
    SPAWN_PID,
    SPAWN_WORDS,   /* its standard error */
    SPAWN_RPC,     /* of a worker */
    SPAWN_STATE,   /* of a worker */
    SPAWN_NETWORK, /* of a worker */
    SPAWN_MESSAGE, /* these four as in struct jail, of a command */
    SPAWN_GO,
    SPAWN_DISK,
    SPAWN_PROC,
    SPAWN_GROUP, /* one for each hierarchy */
    N_SPAWN_HFDS = SPAWN_GROUP + HIERARCHIES_MAX
};

/* With an error, the answer contains the parts that exist already, which must
 * be removed. */
struct spawn_answer {
    uint64_t id;
    int32_t error; /* -errno; 0: started */
    pid_t pid;     /* 0: there is no process */
    char where[WHERE_BYTES];
    char group[GROUP_NAME_BYTES];
    uint64_t memory_wall;
    int32_t hfd[N_SPAWN_HFDS]; /* -1: not there */
};

/* --- spawn_message.c. Over a socket of packets. 0 or -errno. */

/* Sends an order. Lists are NULL-terminated; NULL is an empty one. -E2BIG: too
 * long. Does not wait: -EAGAIN. */
int spawn_send_order(int hfd, struct spawn_order *o, char *const *argv,
                     char *const *envp, const char *const *read);
/* -EPIPE: the other side is gone. The descriptors stay with the sender. */
int spawn_send_answer(int hfd, const struct spawn_answer *a);
/* Does not wait: -EAGAIN. -EPIPE: the other side is gone, or is not a spawner.
 */
int spawn_take_answer(int hfd, struct spawn_answer *ret);
/* Closes the descriptors of an answer that nobody waits for. */
void spawn_drop_answer(struct spawn_answer *a);

/* An order as the spawner sees it: NULL-terminated lists. */
struct spawn_request {
    struct spawn_order o;
    char *argv[SPAWN_ARGS_MAX], *envp[SPAWN_ARGS_MAX];
    const char *read[READ_PATHS_MAX + 1];
    char bytes[SPAWN_ORDER_BYTES];
    int parent_hfd; /* the supervisor, as a process */
};
/* Waits for the next order. -EPIPE: the supervisor is gone. */
int spawn_take_order(int hfd, struct spawn_request *b);

/* Send and receive the first message: the properties of the host. */
int spawn_send_host(int hfd, const struct cgroup_host *h);
int spawn_take_host(int hfd, struct cgroup_host *ret);

/* --- spawner.c */

/* The spawner's main(), on the socket that is descriptor 0. */
int spawner_main(void);
/* Starts the spawner: /proc/self/exe with the argument "spawner". Returns 0 or
 * -errno. */
int spawner_start(const struct cgroup_host *h, pid_t *ret_pid, int *ret_hfd);

/* --- child.c: starts a worker; the answer contains the result */
void child_start_worker(const struct cgroup_host *h, struct spawn_request *b,
                        struct spawn_answer *ret);

#endif
