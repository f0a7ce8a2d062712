/* Messages from other threads to a sandbox. The thread that runs the sandbox
 * handles them between time slices of its processes. */
#ifndef LIB_MAIL_H
#define LIB_MAIL_H

#include "base/list.h"
#include "base/own.h"

#include <pthread.h>
#include <stdbool.h>

struct wsand_sandbox;

/* A message. `deliver` runs on the thread that has the lease, and frees it. */
struct mail {
    struct list link;
    void (*deliver)(struct wsand_sandbox *sb, OWN struct mail *m);
};

/* `lock` may be taken under any other lock, and no lock under it. */
struct mailbox {
    pthread_mutex_t lock;
    struct list mail; /* oldest first */
};

/* Initialise and free an empty box; undelivered messages must have been
 * delivered. */
void mailbox_init(struct mailbox *box);
void mailbox_fini(struct mailbox *box);
/* Adds a message without waking the sandbox. */
void mail_put(struct mailbox *box, OWN struct mail *m);
/* Adds a message and wakes the sandbox. */
void mail_send(struct wsand_sandbox *sb, OWN struct mail *m);
/* Handles all messages, on the sandbox's thread. */
void mail_deliver(struct wsand_sandbox *sb);
/* True if messages are waiting. */
bool sandbox_has_mail(struct wsand_sandbox *sb);

#endif
