/* Helpers for tests with message queues. */
#ifndef MQUEUE_H
#define MQUEUE_H

#include "thread.h"

#include <mqueue.h>

static char mqueue_name[64];

static UNUSED void
mqueue_cleanup(void)
{
    (void)mq_unlink(mqueue_name);
}

/* A new queue with a name that nobody else uses, unlinked at exit. */
static UNUSED mqd_t
mqueue_new(int flags, long messages, long bytes)
{
    struct mq_attr attr = {.mq_maxmsg = messages, .mq_msgsize = bytes};

    snprintf(mqueue_name, sizeof mqueue_name, "/guest.%ld.%d.%ld",
             (long)time(NULL), (int)getpid(), (long)messages);
    CHECK(atexit(mqueue_cleanup) == 0);
    return OK(mq_open(mqueue_name, O_CREAT | O_EXCL | flags, 0600, &attr));
}

static UNUSED void
mqueue_put(mqd_t q, const char *text, unsigned priority)
{
    OK(mq_send(q, text, strlen(text), priority));
}

/* The next message is this one. */
#define CHECK_MESSAGE(q, text, priority)                         \
    do {                                                         \
        char text_[8193];                                        \
        unsigned priority_;                                      \
        ssize_t n_ = OK(mq_receive(q, text_, 8192, &priority_)); \
        text_[n_] = 0;                                           \
        CHECK_STR(text_, text);                                  \
        CHECK_EQ(priority_, priority);                           \
    } while (0)

#endif
