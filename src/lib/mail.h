/* What other threads send to a sandbox, to be done on the thread that runs it,
 * between the turns of its processes. */
#ifndef LIB_MAIL_H
#define LIB_MAIL_H

#include "base/list.h"
#include "base/own.h"

#include <pthread.h>
#include <stdbool.h>

struct wsand_sandbox;

struct mail {
    struct list link;
    void (*deliver)(struct wsand_sandbox *sb, OWN struct mail *m);
};

/* `lock` is taken under any other, and none under it. */
struct mailbox {
    pthread_mutex_t lock;
    struct list mail; /* the oldest first */
};

void mailbox_init(struct mailbox *box);
void mailbox_fini(struct mailbox *box);
/* Without waking the sandbox. */
void mail_put(struct mailbox *box, OWN struct mail *m);
void mail_send(struct wsand_sandbox *sb, OWN struct mail *m);
/* On the sandbox's thread: delivers all. */
void mail_deliver(struct wsand_sandbox *sb);
bool sandbox_has_mail(struct wsand_sandbox *sb);

#endif
