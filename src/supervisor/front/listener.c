/* Connections on the Unix socket: lines of JSON in both directions.
 *
 * Access is restricted by the mode of the socket, and checked once more by the
 * user of the peer. Each connection is a client; one that does not read its
 * answers is first not read from, and then closed.
 *
 * New connections are late sources of the loop until they send something for
 * the second time. A flood of connections with one request each therefore does
 * not delay the clients of sessions. */
#include "supervisor/front/listener.h"

#include "base/hfd.h"
#include "supervisor/session/client.h"
#include "supervisor/session/say.h"
#include "supervisor/session/supervisor.h"
#include "wire/frame.h"
#include "wire/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    LINE_BYTES_MAX = 8388608,
    CLIENTS_MAX = 1024,
    BACKLOG = 1024,
    ACCEPTS_AHEAD = 4, /* before other sources are served */
    READS_AHEAD = 16,  /* from one client, before others are served */
    STUCK_S = 30,      /* a client that is behind and reads nothing is closed */
    PAUSE_MS = 100,    /* when there is no descriptor for another client */
};

/* The listening socket. */
struct listener {
    struct source source;
    struct reactor_timer pause; /* until it listens again */
    bool is_out;                /* the last accept found no descriptor */
    struct supervisor *sv;
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

/* One client. `is_closing` is set while a handler runs, so that nothing called
 * from there frees it. */
struct connection {
    struct client client;
    struct source source;
    struct reactor_timer stuck;
    struct reactor_timer again; /* there is space for waiting lines */
    struct frame in;
    struct outbox out;
    bool is_known;   /* it has sent something before */
    bool is_at_end;  /* of its input */
    bool is_closing; /* in this iteration */
};

/* --- connections */

/* Input is not read while the client has too much waiting. */
static void
connection_watch(struct connection *c)
{
    uint32_t events = 0;

    if (!c->is_at_end && !peer_is_stuck(&c->client.peer))
        events |= EPOLLIN;
    if (outbox_queued(&c->out))
        events |= EPOLLOUT;
    reactor_change(&c->client.sv->reactor, &c->source, events);
}

/* Starts or stops the timer of a client that is behind. */
static void
connection_set_stuck(struct connection *c)
{
    bool is_behind = outbox_is_behind(&c->out);

    reactor_set_timer(&c->client.sv->reactor, &c->stuck,
                      is_behind ? time_mono_ns() + STUCK_S * NS_PER_S : 0);
}

/* Sources and timers are removed first: client_gone may free the connection. */
static void
connection_close(struct connection *c)
{
    struct reactor *r = &c->client.sv->reactor;

    reactor_set_timer(r, &c->stuck, 0);
    reactor_set_timer(r, &c->again, 0);
    reactor_remove(r, &c->source);
    client_gone(&c->client);
}

/* A client that has read nothing for STUCK_S is given up: its answers occupy
 * memory. */
static void
listener_connection_on_stuck(struct reactor_timer *t)
{
    struct connection *c = CONTAINER_OF(t, struct connection, stuck);

    say(c->client.sv, LEVEL_warn,
        "closed a connection: the client has read no answer for %d s", STUCK_S);
    connection_close(c);
}

static void
listener_connection_send(struct client *client, const char *line, size_t len)
{
    struct connection *c = CONTAINER_OF(client, struct connection, client);

    outbox_put_line(&c->out, line, len);
    if (outbox_is_behind(&c->out) && !c->stuck.at_ns)
        connection_set_stuck(c);
    connection_watch(c);
}

static bool
listener_connection_is_behind(const struct client *client)
{
    return outbox_is_behind(
        &CONTAINER_OF(client, struct connection, client)->out);
}

/* Waiting lines are served from the event loop, not from within the call that
 * made space. */
static void
listener_connection_again(struct client *client)
{
    struct connection *c = CONTAINER_OF(client, struct connection, client);

    reactor_set_timer(&client->sv->reactor, &c->again, time_mono_ns());
}

/* Everything was answered and sent, and nothing more will be requested. */
static void
listener_connection_settled(struct client *client)
{
    struct connection *c = CONTAINER_OF(client, struct connection, client);

    if (c->is_at_end && !outbox_queued(&c->out) && !c->is_closing)
        connection_close(c);
}

static void
listener_connection_free(struct client *client)
{
    struct connection *c = CONTAINER_OF(client, struct connection, client);

    (void)close(c->out.hfd);
    frame_fini(&c->in);
    outbox_fini(&c->out);
    free(c);
}

static const struct client_ops connection_ops = {
    .send = listener_connection_send,
    .is_behind = listener_connection_is_behind,
    .again = listener_connection_again,
    .settled = listener_connection_settled,
    .free = listener_connection_free,
};

/* --- input */

/* Passes the next line on. Returns false if no complete line has arrived. */
static bool
connection_take_next(struct connection *c)
{
    char *line;
    size_t len;

    switch (frame_next(&c->in, &line, &len)) {
    case FRAME_LINE:
        client_line(&c->client, line, len);
        return true;
    case FRAME_TOO_LARGE:
        client_too_large(&c->client, c->in.max);
        return true;
    default:
        return false;
    }
}

/* A client with too much waiting is not served, and neither is one to which
 * nothing can be written. */
static bool
connection_may_take(struct connection *c)
{
    return !peer_is_stuck(&c->client.peer) && !c->out.is_broken;
}

static void
connection_take_lines(struct connection *c)
{
    while (connection_may_take(c) && connection_take_next(c))
        ;
}

/* Reads a limited number of times, so that one client does not starve
 * others. */
static void
connection_read_lines(struct connection *c)
{
    int n = FRAME_READ_BYTES;

    for (int i = 0;
         i < READS_AHEAD && n == FRAME_READ_BYTES && connection_may_take(c);
         i++) {
        n = frame_read(&c->in, c->source.hfd, true);
        if (n == 0) {
            c->is_at_end = true;
            frame_end(&c->in);
        }
        connection_take_lines(c);
    }
    if (n < 0 && n != -EAGAIN && n != -EINTR)
        c->out.is_broken = true;
}

/* Every progress restarts the timer of a stuck client. */
static void
connection_write_lines(struct connection *c)
{
    bool was_behind = outbox_is_behind(&c->out);

    outbox_flush(&c->out);
    connection_set_stuck(c);
    if (was_behind && !outbox_is_behind(&c->out)) {
        connection_take_lines(c);
        client_caught_up(&c->client);
    }
}

/* Closes the connection if there is nothing more to do. */
static void
connection_check_end(struct connection *c, bool is_over)
{
    bool is_done = c->is_at_end && frame_is_empty(&c->in) &&
                   backlog_is_empty(&c->client.peer.waiting) &&
                   !c->client.peer.n_calls && !outbox_queued(&c->out);

    connection_watch(c);
    if (is_over || is_done || c->out.is_broken)
        connection_close(c);
}

/* Answers are sent before new lines are read, so that a client that has caught
 * up is served at once. */
static void
listener_connection_on_ready(struct source *source, uint32_t events)
{
    struct connection *c = CONTAINER_OF(source, struct connection, source);

    c->is_closing = true;
    if (events & EPOLLOUT)
        connection_write_lines(c);
    if (events & EPOLLIN && !c->is_at_end)
        connection_read_lines(c);
    c->is_closing = false;
    if (c->is_known && !c->is_at_end)
        reactor_promote(&c->client.sv->reactor, &c->source);
    c->is_known = true;
    connection_check_end(c, events & (EPOLLHUP | EPOLLERR));
}

/* As for events: the connection is closed at the end, if at all. */
static void
listener_connection_on_again(struct reactor_timer *t)
{
    struct connection *c = CONTAINER_OF(t, struct connection, again);

    c->is_closing = true;
    client_take_waiting(&c->client);
    connection_take_lines(c);
    c->is_closing = false;
    connection_check_end(c, false);
}

/* --- the socket */

/* The socket's mode protects it on Linux. The check covers a folder that was
 * opened to others. */
static bool
listener_is_allowed(int hfd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return !getsockopt(hfd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
           (peer.uid == geteuid() || peer.uid == 0);
}

/* A connection that cannot be watched is closed again. */
static void
listener_connection_new(struct supervisor *sv, OWN int hfd)
{
    struct connection *c = calloc(1, sizeof *c);

    if (!c) {
        (void)close(hfd);
        return;
    }
    client_init(&c->client, sv, &connection_ops);
    c->source.ready = listener_connection_on_ready;
    c->stuck.fire = listener_connection_on_stuck;
    c->again.fire = listener_connection_on_again;
    frame_init(&c->in, LINE_BYTES_MAX);
    outbox_init(&c->out, hfd);
    if (reactor_add_late(&sv->reactor, &c->source, hfd, EPOLLIN) < 0)
        client_gone(&c->client);
}

static void
listener_take_connection(struct listener *l, OWN int hfd)
{
    if (!listener_is_allowed(hfd)) {
        say(l->sv, LEVEL_warn,
            "refused a connection: the client runs as another user");
        (void)close(hfd);
    } else if (l->sv->n_clients >= CLIENTS_MAX) {
        say(l->sv, LEVEL_warn, "refused a connection: %d clients are connected",
            CLIENTS_MAX);
        (void)close(hfd);
    } else {
        listener_connection_new(l->sv, hfd);
    }
}

static void
listener_on_pause(struct reactor_timer *t)
{
    struct listener *l = CONTAINER_OF(t, struct listener, pause);

    reactor_change(&l->sv->reactor, &l->source, EPOLLIN);
}

/* Without descriptors, a waiting connection would wake the loop again and
 * again. Listening pauses, and the first failure is logged. */
static void
listener_pause(struct listener *l, int errnum)
{
    if (!l->is_out)
        say(l->sv, LEVEL_warn, "cannot accept a connection: %s",
            strerror(errnum));
    l->is_out = true;
    reactor_change(&l->sv->reactor, &l->source, 0);
    reactor_set_timer(&l->sv->reactor, &l->pause,
                      time_mono_ns() + PAUSE_MS * NS_PER_MS);
}

/* These errors pass when other descriptors or memory become free. Other errors
 * concern one connection, for example because its client is gone. */
static bool
listener_is_out(int errnum)
{
    return errnum == EMFILE || errnum == ENFILE || errnum == ENOBUFS ||
           errnum == ENOMEM;
}

static void
listener_on_ready(struct source *source, uint32_t events)
{
    struct listener *l = CONTAINER_OF(source, struct listener, source);

    (void)events;
    for (int i = 0; i < ACCEPTS_AHEAD; i++) {
        int hfd =
            accept4(source->hfd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (hfd < 0 && listener_is_out(errno))
            listener_pause(l, errno);
        if (hfd < 0)
            return;
        l->is_out = false;
        listener_take_connection(l, hfd);
    }
}

static int
listener_fail(const char *path, int errnum, char *why, size_t size)
{
    (void)snprintf(why, size, "%s: %s", path, strerror(errnum));
    return -errnum;
}

/* Creates the last folder of the path, which only the user may enter. */
static int
listener_make_folder(const char *path, char *why, size_t size)
{
    char folder[sizeof((struct sockaddr_un *)0)->sun_path];

    (void)snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder)
        return 0;
    *slash = 0;
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return listener_fail(folder, errno, why, size);
    return 0;
}

/* Returns whether a process answers at this address. */
static bool
listener_is_served(const struct sockaddr_un *at)
{
    int hfd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is = hfd >= 0 && !connect(hfd, (const void *)at, sizeof *at);

    if (hfd >= 0)
        (void)close(hfd);
    return is;
}

/* Only a socket without a listener may be replaced, never another kind of
 * file. */
static int
listener_check_free(const struct sockaddr_un *at, char *why, size_t size)
{
    struct stat st;

    if (listener_is_served(at)) {
        (void)snprintf(why, size,
                       "%s: %s: another supervisor listens there; stop it, or "
                       "choose another path with --socket",
                       at->sun_path, strerror(EADDRINUSE));
        return -EADDRINUSE;
    }
    if (lstat(at->sun_path, &st) == 0 && !S_ISSOCK(st.st_mode))
        return listener_fail(at->sun_path, EEXIST, why, size);
    return 0;
}

/* The mode is restricted by umask, because there must be no moment in which
 * others can connect. */
static int
listener_bind_at(const struct sockaddr_un *at)
{
    int hfd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (hfd < 0)
        return -errno;
    mode_t mask = umask(0177);
    int r = bind(hfd, (const void *)at, sizeof *at);
    int errnum = errno;
    (void)umask(mask);
    if (r == 0 && listen(hfd, BACKLOG) == 0)
        return hfd;
    errnum = r < 0 ? errnum : errno;
    (void)close(hfd);
    return -errnum;
}

/* The path is checked, but the socket is not created yet: clients must not
 * connect before there is a worker. */
int
listener_new(struct supervisor *sv, const char *path, char *why, size_t size,
             OWN struct listener **ret)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof at.sun_path)
        return listener_fail(path, ENAMETOOLONG, why, size);
    memcpy(at.sun_path, path, strlen(path));
    int r = listener_make_folder(path, why, size);
    if (r == 0)
        r = listener_check_free(&at, why, size);
    if (r < 0)
        return r;
    struct listener *l = calloc(1, sizeof *l);
    if (!l)
        return listener_fail(path, ENOMEM, why, size);
    l->sv = sv;
    l->source = (struct source){.hfd = -1, .ready = listener_on_ready};
    l->pause.fire = listener_on_pause;
    memcpy(l->path, at.sun_path, sizeof l->path);
    *ret = l;
    return 0;
}

/* The path is checked again, because minutes may have passed until the first
 * worker was ready. */
int
listener_begin(struct listener *l, char *why, size_t size)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    memcpy(at.sun_path, l->path, sizeof at.sun_path);
    int r = listener_check_free(&at, why, size);
    if (r < 0)
        return r;
    (void)unlink(l->path);
    int hfd = listener_bind_at(&at);
    r = hfd < 0 ? hfd
                : reactor_add_late(&l->sv->reactor, &l->source, hfd, EPOLLIN);
    if (r == 0)
        return 0;
    hfd_closep(&hfd);
    return listener_fail(l->path, -r, why, size);
}

/* The socket is removed only if it is ours, that is, if we have bound it. */
void
listener_free(OWN struct listener *l)
{
    if (!l)
        return;
    int hfd = l->source.hfd;
    reactor_set_timer(&l->sv->reactor, &l->pause, 0);
    if (hfd >= 0) {
        reactor_remove(&l->sv->reactor, &l->source);
        (void)close(hfd);
        (void)unlink(l->path);
    }
    free(l);
}
