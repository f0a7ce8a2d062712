/* Messages of the agent, and the requests of one machine in order.
 *
 * The agent serves one request at a time, so a sandbox has one current job and
 * a queue. After a fork or a reset, the machine first answers a greeting with
 * the time and new random numbers. Messages before that answer may belong to
 * the machine that it was copied from, and are dropped. */
#include "v86/sandbox.h"

#include "base/hfd.h"
#include "base/os_time.h"
#include "v86/image/agent.h"
#include "v86/job.h"
#include "v86/methods.h"
#include "wire/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE_BYTES_MAX = 64 << 10, READ_BYTES = 64 << 10 };

void
v86_sandbox_send(struct v86_sandbox *sb, uint32_t type, const void *head,
                 size_t head_len, const void *p, size_t len)
{
    struct agent_head h = {type, (uint32_t)(head_len + len)};

    outbox_put(&sb->out, &h, sizeof h);
    outbox_put(&sb->out, head, head_len);
    outbox_put(&sb->out, p, len);
}

/* Gives a new machine the time and random numbers of its own. */
static void
sandbox_greet(struct v86_sandbox *sb)
{
    int64_t now = time_wall_ns();
    struct agent_hello hello = {.wall_s = (uint32_t)(now / NS_PER_S),
                                .wall_ns = (uint32_t)(now % NS_PER_S)};

    (void)!getrandom(hello.seed, sizeof hello.seed, 0);
    v86_sandbox_send(sb, AGENT_HELLO, NULL, 0, &hello, sizeof hello);
    sb->waits_for_hello = true;
}

static void
sandbox_connect(struct v86_sandbox *sb)
{
    (void)fcntl(sb->machine.hfd, F_SETFL, O_NONBLOCK);
    outbox_init(&sb->out, sb->machine.hfd);
    buf_init(&sb->in,
             sizeof(struct agent_head) + MESSAGE_BYTES_MAX + READ_BYTES);
    sandbox_greet(sb);
}

static void
sandbox_disconnect(struct v86_sandbox *sb)
{
    zygote_kill(&sb->machine);
    outbox_fini(&sb->out);
    buf_fini(&sb->in);
}

struct v86_sandbox *
v86_sandbox_new(struct v86_server *s, OWN struct zygote_child machine)
{
    struct v86_sandbox *sb = calloc(1, sizeof *sb);

    if (!sb) {
        zygote_kill(&machine);
        return NULL;
    }
    list_init(&sb->link);
    list_init(&sb->waiting);
    sb->server = s;
    sb->machine = machine;
    sb->created_ms = time_wall_ms();
    sandbox_connect(sb);
    return sb;
}

void
v86_sandbox_free(struct v86_sandbox *sb)
{
    for (size_t i = 0; i < V86_SNAPSHOTS_MAX; i++)
        if (sb->snapshot[i].id)
            zygote_kill(&sb->snapshot[i].machine);
    sandbox_disconnect(sb);
    list_remove(&sb->link);
    free(sb->label);
    free(sb);
}

int
v86_sandbox_reset(struct v86_sandbox *sb, int control)
{
    struct zygote_child machine = ZYGOTE_NO_CHILD;
    int r = zygote_request(control, ZYGOTE_FORK_RUNNING);

    if (r == 0)
        r = zygote_receive(control, true, &machine);
    if (r < 0)
        return r;
    sandbox_disconnect(sb);
    sb->machine = machine;
    sandbox_connect(sb);
    if (sb->id == 0)
        sb->server->saver.is_all = true;
    return 0;
}

/* A machine whose changes are kept continues with the last ones. A session
 * does so with a new worker, after the end of this one. */
void
v86_sandbox_replace(struct v86_sandbox *sb)
{
    struct v86_server *s = sb->server;
    bool is_kept = sb->id == 0 && s->saver.path;

    if (s->saver.is_session)
        _exit(EXIT_FAILURE);
    if ((is_kept && v86_saver_restart(s) < 0) ||
        v86_sandbox_reset(sb, s->zygote.control) < 0)
        s->is_ending = true;
}

/* --- messages */

void
v86_sandbox_die(struct v86_sandbox *sb, const char *why)
{
    struct v86_job *j = sb->job;

    text_logf("v86: %s", why);
    v86_sandbox_replace(sb);
    sb->job = NULL;
    if (j)
        j->on_death(j, why);
}

/* Takes the figure from the last message of a request. Agents of older images
 * do not send it. Returns the length of the rest. */
static uint32_t
sandbox_take_use(struct v86_sandbox *sb, const uint8_t *p, uint32_t len)
{
    uint32_t kib;

    if (len != 2 * sizeof kib)
        return len;
    memcpy(&kib, p + sizeof kib, sizeof kib);
    uint64_t bytes = (uint64_t)kib << 10, max = sb->server->ram_bytes;
    sb->used_bytes = bytes < max ? bytes : max;
    return sizeof kib;
}

static void
sandbox_handle(struct v86_sandbox *sb, uint32_t type, const uint8_t *p,
               uint32_t len)
{
    char why[PUMP_ERROR_BYTES];

    if (type == AGENT_RESULT || type == AGENT_EXIT)
        len = sandbox_take_use(sb, p, len);

    if (type == AGENT_DIED) {
        (void)snprintf(why, sizeof why, "%.*s", (int)len, (const char *)p);
        v86_sandbox_die(sb, why);
    } else if (sb->waits_for_hello) {
        sb->waits_for_hello = type != AGENT_RESULT;
    } else if (sb->job && sb->job->on_message) {
        sb->job->on_message(sb->job, type, p, len);
    }
}

/* Handles whole messages. A guest that is not our agent may send anything. A
 * message may be the last one of its machine: its process number tells. */
static void
sandbox_handle_all(struct v86_sandbox *sb)
{
    pid_t pid = sb->machine.pid;
    size_t at = 0;
    struct agent_head h;

    while (sb->in.len - at >= sizeof h) {
        const uint8_t *p = (const uint8_t *)sb->in.p + at;

        memcpy(&h, p, sizeof h);
        if (h.len > MESSAGE_BYTES_MAX) {
            v86_sandbox_die(sb, "the agent has sent a bad message");
            return;
        }
        if (sb->in.len - at - sizeof h < h.len)
            break;
        at += sizeof h + h.len;
        sandbox_handle(sb, h.type, p + sizeof h, h.len);
        if (sb->machine.pid != pid)
            return;
    }
    sb->in.len -= at;
    memmove(sb->in.p, sb->in.p + at, sb->in.len);
}

void
v86_sandbox_read(struct v86_sandbox *sb)
{
    char *room = buf_room(&sb->in, READ_BYTES);
    ssize_t n = room ? recv(sb->machine.hfd, room, READ_BYTES, 0) : 0;

    if (n > 0) {
        sb->in.len += (size_t)n;
        sandbox_handle_all(sb);
    } else if (n == 0 || errno != EAGAIN) {
        v86_sandbox_die(sb, "the machine's process has ended");
    }
}

/* --- calls */

bool
v86_sandbox_is_busy(const struct v86_sandbox *sb)
{
    return sb->job || sb->waits_for_hello || !list_is_empty(&sb->waiting);
}

/* A handler that has not answered needs the agent. */
static void
sandbox_begin(struct v86_sandbox *sb, OWN struct call *q)
{
    sb->job = v86_job_of(q);
    v86_methods_find(q->method)(q);
}

void
v86_sandbox_submit(struct v86_sandbox *sb, OWN struct call *q)
{
    v86_job_of(q)->sb = sb;
    if (q->method->flags & AT_ONCE)
        v86_methods_find(q->method)(q);
    else if (v86_sandbox_is_busy(sb))
        list_push_back(&sb->waiting, &q->link);
    else
        sandbox_begin(sb, q);
}

void
v86_sandbox_continue(struct v86_sandbox *sb)
{
    while (!sb->job && !sb->waits_for_hello && !list_is_empty(&sb->waiting)) {
        struct call *q = CONTAINER_OF(sb->waiting.next, struct call, link);

        list_remove(&q->link);
        sandbox_begin(sb, q);
    }
}
