/* Births: processes in a group and namespaces of their own, made by the nursery
 * on the supervisor's order.
 *
 * The nursery is a process of its own, so that births, which take milliseconds,
 * hold nobody up, and that children begin as copies of something small which
 * knows no secrets. They are the supervisor's children, not the nursery's. */
#ifndef SUPERVISOR_BIRTH_H
#define SUPERVISOR_BIRTH_H

#include "supervisor/jail/jail.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    BIRTH_ARGS_MAX = 512,
    BIRTH_ORDER_BYTES = 96 << 10,
};

/* An order: this, and argv, envp and read as strings in a row. */
struct birth_order {
    uint64_t id;
    uint32_t is_command; /* in a jail as of `limit`; else a worker */
    uint32_t limit[N_LIMITS];
    uint32_t n_argv, n_envp, n_read;
};

/* Descriptors that come with the answer. */
enum birth_hfd {
    BIRTH_PID,
    BIRTH_WORDS,   /* what it writes to standard error */
    BIRTH_RPC,     /* of a worker */
    BIRTH_STATE,   /* of a worker */
    BIRTH_MESSAGE, /* these four as in struct jail, of a command */
    BIRTH_GO,
    BIRTH_DISK,
    BIRTH_PROC,
    BIRTH_GROUP, /* one for each hierarchy */
    N_BIRTH_HFDS = BIRTH_GROUP + HIERARCHIES_MAX
};

/* With an error, what there is already comes with it, to be taken down. */
struct birth_answer {
    uint64_t id;
    int32_t error; /* -errno; 0: born */
    pid_t pid;     /* 0: nobody was born */
    char where[WHERE_BYTES];
    char group[GROUP_NAME_BYTES];
    uint64_t memory_wall;
    int32_t hfd[N_BIRTH_HFDS]; /* -1: not there */
};

/* --- birth_message.c. Over a socket of packets. 0 or -errno. */

/* Lists end with NULL; NULL is an empty one. -E2BIG. Does not wait: -EAGAIN. */
int birth_send_order(int hfd, struct birth_order *o, char *const *argv,
                     char *const *envp, const char *const *read);
/* -EPIPE: the other side is gone. The descriptors stay the sender's. */
int birth_send_answer(int hfd, const struct birth_answer *a);
/* Does not wait: -EAGAIN. -EPIPE: the other side is gone, or not a nursery. */
int birth_take_answer(int hfd, struct birth_answer *ret);
/* Closes what came with an answer that is nobody's. */
void birth_drop_answer(struct birth_answer *a);

/* An order as the nursery has it: lists that end with NULL. */
struct birth_orders {
    struct birth_order o;
    char *argv[BIRTH_ARGS_MAX], *envp[BIRTH_ARGS_MAX];
    const char *read[READ_PATHS_MAX + 1];
    char bytes[BIRTH_ORDER_BYTES];
    int parent_hfd; /* the supervisor, as a process */
};
/* Waits. */
int birth_take_order(int hfd, struct birth_orders *b);

/* --- the first message: what the host offers */
int birth_send_host(int hfd, const struct cgroup_host *h);
int birth_take_host(int hfd, struct cgroup_host *ret);

/* --- nursery.c */

/* The nursery's main(), on the socket that is descriptor 0. */
int nursery_main(void);
/* Starts it: /proc/self/exe with the argument "nursery". 0 or -errno. */
int nursery_start(const struct cgroup_host *h, pid_t *ret_pid, int *ret_hfd);

/* --- newborn.c: a worker; the answer has what it came to. */
void newborn_worker(const struct cgroup_host *h, struct birth_orders *b,
                    struct birth_answer *ret);

#endif
