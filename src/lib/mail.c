/* Messages to a sandbox from other threads.
 *
 * The list has a lock of its own, below all others, so a message can be sent
 * while the lease is in use. A message is handled by the thread that runs the
 * sandbox; its wake-up either interrupts that thread or makes a background
 * thread come. */
#include "lib/sandbox.h"

void
mailbox_init(struct mailbox *box)
{
    pthread_mutex_init(&box->lock, NULL);
    list_init(&box->mail);
}

void
mailbox_fini(struct mailbox *box)
{
    pthread_mutex_destroy(&box->lock);
}

void
mail_put(struct mailbox *box, OWN struct mail *m)
{
    pthread_mutex_lock(&box->lock);
    list_push_back(&box->mail, &m->link);
    pthread_mutex_unlock(&box->lock);
}

void
mail_send(struct wsand_sandbox *sb, OWN struct mail *m)
{
    mail_put(&sb->mailbox, m);
    sandbox_wake(sb);
}

static OWN struct mail *
mail_take(struct mailbox *box)
{
    struct mail *m = NULL;

    pthread_mutex_lock(&box->lock);
    if (!list_is_empty(&box->mail)) {
        m = CONTAINER_OF(box->mail.next, struct mail, link);
        list_remove(&m->link);
    }
    pthread_mutex_unlock(&box->lock);
    return m;
}

/* Messages are removed one at a time, because delivering one may send
 * another. */
void
mail_deliver(struct wsand_sandbox *sb)
{
    struct mail *m;

    while ((m = mail_take(&sb->mailbox)))
        m->deliver(sb, m);
}

bool
sandbox_has_mail(struct wsand_sandbox *sb)
{
    pthread_mutex_lock(&sb->mailbox.lock);
    bool has = !list_is_empty(&sb->mailbox.mail);
    pthread_mutex_unlock(&sb->mailbox.lock);
    return has;
}
