/* Processes beside the shell: started by the host, each with input and output
 * of its own.
 *
 * Functions of the public header may be called from any thread. They check the
 * lists under `processes.lock`, and send everything else as mail to the
 * sandbox's thread. */
#ifndef LIB_PROCESS_H
#define LIB_PROCESS_H

#include "wasmsand.h"

#include "base/list.h"
#include "base/own.h"
#include "kernel/wait.h"

#include <pthread.h>

struct capture;
struct file;
struct tty;

/* One process, from its start until it is forgotten: the newest 64 that have
 * ended stay in the list. */
struct process {
    struct wsand_sandbox *sb;
    uint64_t id;
    OWN char *command;
    bool is_pty;
    /* Callbacks of the caller, with `arg`; each may be NULL. They run on the
     * sandbox's thread and must not wait. */
    void (*on_output)(void *arg, uint64_t id, int stream, const void *data,
                      size_t len);
    bool (*has_room)(void *arg);
    size_t (*window)(void *arg);
    void (*on_exit)(void *arg, uint64_t id, int exit_code);
    void *arg;

    /* Changed on the sandbox's thread with processes.lock held. */
    struct list link; /* in sb->processes */
    int exit_code;
    size_t in_bytes;  /* on their way to the process */
    bool in_is_ended; /* no more input is accepted */

    /* Used by the sandbox's thread only. */
    int pid;
    uint64_t tag;
    OWN struct file *in; /* its input or its terminal; NULL: closed */
    struct tty *tty;     /* or NULL; lives as long as `in` */
    /* Input that the process has not read, oldest first. */
    struct list letters; /* input that it has not read */
    size_t taken;        /* bytes read from the first of them */
    OWN struct capture *out, *err, *results;
    struct waiter waiter; /* for space in its input, or a terminal's output */
    struct poll_table pt;
};

/* Returns the number of bytes of output that the caller accepts now. */
size_t process_window(const struct process *p);

/* The processes of one sandbox. */
struct processes {
    /* see struct process; no lock is taken under it */
    pthread_mutex_t lock;
    struct list running, ended; /* oldest first */
    /* Used by the sandbox's thread only. */
    size_t n_ended;
    uint64_t last_id;
    bool is_due;          /* a process may have ended, or bytes can be moved */
    struct waiter on_end; /* where init is notified of ends */
};

void processes_init(struct processes *ps);
/* Kills all processes. Callers are notified of the ends, but not of later
 * output. */
void processes_end(struct wsand_sandbox *sb);
void processes_fini(struct processes *ps);
/* Called between time slices: moves bytes, and detects processes that have
 * ended. */
void processes_pump(struct wsand_sandbox *sb);

#endif
