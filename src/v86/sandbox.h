/* A sandbox: a machine, the stream of its agent, its snapshots, and the
 * requests to it, which are served one after the other. */
#ifndef V86_SANDBOX_H
#define V86_SANDBOX_H

#include "base/list.h"
#include "v86/zygote.h"
#include "wire/outbox.h"

struct call;
struct v86_job;
struct v86_server;

enum { V86_SNAPSHOTS_MAX = 16 };

struct v86_snapshot {
    uint64_t id; /* 0: the place is free */
    struct zygote_child machine;
};

struct v86_sandbox {
    struct list link; /* in the server's list; not the root sandbox */
    struct v86_server *server;
    uint64_t id; /* 0: the root sandbox */
    char *label;
    int64_t created_ms;
    struct zygote_child machine;
    struct outbox out;   /* to the agent */
    struct buf in;       /* from the agent */
    uint64_t used_bytes; /* of RAM, at the end of the last request */
    /* The first message of a new machine answers our greeting. */
    bool waits_for_hello;
    bool is_gone;        /* to be freed when its job is answered */
    struct list waiting; /* struct call */
    struct v86_job *job;
    uint64_t last_snapshot;
    struct v86_snapshot snapshot[V86_SNAPSHOTS_MAX];
};

/* Makes a sandbox of a machine. NULL: no memory; the machine is ended. */
struct v86_sandbox *v86_sandbox_new(struct v86_server *s,
                                    OWN struct zygote_child machine);
/* Ends the machine and its snapshots. There must be no job. */
void v86_sandbox_free(struct v86_sandbox *sb);

/* Serves a call, now or after others. */
void v86_sandbox_submit(struct v86_sandbox *sb, OWN struct call *q);
/* Begins calls that wait, if nothing prevents it. */
void v86_sandbox_continue(struct v86_sandbox *sb);
/* True if a call or a greeting has not been answered. */
bool v86_sandbox_is_busy(const struct v86_sandbox *sb);

/* Replaces the machine by a fork of the waiting one behind `control`. Returns 0
 * or -errno. */
int v86_sandbox_reset(struct v86_sandbox *sb, int control);
/* The same from the server's zygote; if that fails, the server ends. */
void v86_sandbox_replace(struct v86_sandbox *sb);

/* Sends a message to the agent; `head` may be NULL. */
void v86_sandbox_send(struct v86_sandbox *sb, uint32_t type, const void *head,
                      size_t head_len, const void *p, size_t len);
/* Handles messages of the agent. */
void v86_sandbox_read(struct v86_sandbox *sb);
/* Replaces a machine that has stopped, and informs its job. */
void v86_sandbox_die(struct v86_sandbox *sb, const char *why);

#endif
