/* Hosts outside of the sandbox: TCP connections and names.
 *
 * The kernel opens no socket. It asks a broker (net/message.h), which decides
 * by the policy and answers with a connected descriptor of the host. A socket
 * with such a descriptor has an outside_end; data then goes directly between
 * the guest's memory and the descriptor.
 *
 * A connection is no state: copies of a sandbox do not have it. */
#ifndef KERNEL_OUTSIDE_H
#define KERNEL_OUTSIDE_H

#include "base/list.h"
#include "base/own.h"
#include "kernel/kernel.h"
#include "net/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct message_answer;
struct message_request;
struct poll_table;
struct sock_addr;
struct sock_msg;
struct socket;
struct waitq;

/* How the kernel reaches the broker. src/host implements it. No function
 * waits. */
struct outside_ops {
    /* Sends a request. -EPIPE: the broker has ended; the next call starts
     * another one. Other errors: there is no broker. */
    int (*ask)(void *arg, const struct message_request *q);
    /* Receives an answer; *ret_hfd is its descriptor or -1. -EAGAIN: none.
     * -EPIPE: the broker has ended. */
    int (*take)(void *arg, struct message_answer *ret, OWN int *ret_hfd);
    /* Returns the descriptor that is readable when there is an answer, or -1
     * without a broker. */
    int (*answers)(void *arg);
};

/* The outside of one sandbox. */
struct outside {
    struct kernel *kernel;
    const struct outside_ops *ops;
    void *arg;
    bool is_on;
    bool is_open;            /* connections from outside may come at any time */
    struct host_watch watch; /* of the broker's answers, while one may come */
    struct waiter on_answer;
    bool is_stalled; /* a sender waits until the broker takes requests again */
    uint32_t last_id;
    struct list ends, questions;
    size_t n_questions;
    struct names names;
};

/* One connection of a socket, or one that is being made. */
struct outside_end {
    struct list link; /* in outside->ends, if the broker knows it */
    struct socket *socket;
    uint32_t id;      /* 0: the connection came from outside */
    int hfd;          /* -1: not connected yet, or reset */
    uint64_t run_tag; /* of the process that connected */
    /* Connected, but the broker has the descriptor and takes the first bytes.
     * It has not answered to the last ones yet if is_checked. */
    bool is_first, is_checked;
    struct host_watch watch;
    struct waiter on_ready;
};

/* Creates the outside of a kernel. `arg` is passed to the operations. -ENOMEM
 */
int outside_new(struct kernel *k, const struct outside_ops *ops, void *arg,
                OWN struct outside **ret);
/* All sockets must be gone. Accepts NULL. */
void outside_free(OWN struct outside *o);
/* Turns the network on or off. Off resets all connections, and programs then
 * see a sandbox without a network. */
void outside_set_on(struct outside *o, bool is_on);
/* From now on, the broker's side may pass connections from outside, also while
 * the network is off. */
void outside_open(struct outside *o);
/* Returns the outside of a kernel whose network is on, or NULL. */
struct outside *outside_of(const struct kernel *k);
/* Handles the answers that have arrived. */
void outside_run(struct outside *o);

/* Connects a stream to an address that is not in the sandbox. May be called
 * again while the socket is connecting. -EINPROGRESS, or -EAGAIN if the call
 * may wait: on the socket's events. -EACCES, -ECONNREFUSED, ... */
int outside_connect(struct socket *s, struct task *t, bool may_wait,
                    const struct sock_addr *addr);
/* Sends a datagram to an address that is not in the sandbox. Only questions to
 * the name server are accepted; their answers arrive in the socket's queue. */
int64_t outside_send_datagram(struct socket *s, struct task *t,
                              const struct sock_addr *addr, struct sock_msg *m);
/* Returns true if addr is that of the virtual name server. */
bool outside_is_name_server(const struct sock_addr *addr);

/* Records that policy denied a process with this tag an address. */
void outside_deny(struct kernel *k, uint64_t run_tag,
                  const struct sock_addr *addr, const char *reason);

/* On a socket with an end, as the functions of socket.h. */
int64_t outside_send(struct socket *s, struct sock_msg *m);
int64_t outside_recv(struct socket *s, struct sock_msg *m);
short outside_poll(struct socket *s);
int outside_shutdown(struct socket *s, int how);
/* Returns the pending error of the connection, negative, and clears it. */
int outside_take_error(struct socket *s);
size_t outside_readable(struct socket *s);
/* Gives a new socket the descriptor of a connection from outside. On failure,
 * the descriptor stays with the caller. -ENOMEM */
int outside_accept(struct socket *s, int hfd);
/* Returns true if f is a socket with an end. */
bool outside_is_file(const struct file *f);
/* Creates the open file of a connection that was reset, for a copy of a process
 * that had one. -ENOMEM, -ENFILE */
int outside_reset_file(struct kernel *k, OWN struct file **ret);
/* Closes the connection of a socket, and forgets its questions. */
void outside_release(struct socket *s);

#endif
