/* A client of the supervisor: connects to its socket, sends requests, and waits
 * for answers. Output notifications that arrive in between go to a callback. */
#include "cli/link.h"

#include "base/hfd.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES_MAX = 64 << 20, RETRY_MS = 20 };

/* Connects, and tries again for a while. A supervisor that is starting has no
 * socket yet, or one that refuses: a supervisor that was killed leaves such a
 * socket, and the next one replaces it. */
static int
link_connect_within(int hfd, const struct sockaddr_un *at, int wait_ms)
{
    const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};

    while (connect(hfd, (const void *)at, sizeof *at) < 0) {
        if ((errno != ENOENT && errno != ECONNREFUSED) || wait_ms <= 0)
            return -errno;
        (void)nanosleep(&pause, NULL);
        wait_ms -= RETRY_MS;
    }
    return 0;
}

/* The path must fit into a socket address, which is about 100 bytes long. */
int
link_open(struct link *k, const char *socket_path, int wait_ms)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    if (strlen(socket_path) >= sizeof at.sun_path)
        return -ENAMETOOLONG;
    memcpy(at.sun_path, socket_path, strlen(socket_path));
    int hfd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = hfd < 0 ? -errno : link_connect_within(hfd, &at, wait_ms);
    if (r < 0) {
        hfd_closep(&hfd);
        return r;
    }
    *k = (struct link){.hfd = hfd};
    frame_init(&k->in, LINE_BYTES_MAX);
    return 0;
}

void
link_close(struct link *k)
{
    frame_fini(&k->in);
    (void)close(k->hfd);
}

/* A request that cannot be sent is noticed when its answer does not arrive. */
int64_t
link_send(struct link *k, const char *method, struct buf *params)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64, ++k->last_id);
    put_member(&b, "method", method);
    put_name(&b, "params");
    buf_add(&b, params->p, params->len);
    buf_puts(&b, "}}\n");
    if (!b.error && !params->error)
        (void)hfd_write_all(k->hfd, b.p, b.len);
    buf_fini(params);
    return k->last_id;
}

int
link_read(struct link *k)
{
    return frame_read(&k->in, k->hfd, true);
}

/* A line that is not JSON ends the messages: the other side is not a
 * supervisor. */
bool
link_next(struct link *k, struct json_doc *ret)
{
    struct json_fault fault;
    char *line;
    size_t len;

    return frame_next(&k->in, &line, &len) == FRAME_LINE &&
           json_read_copy(ret, line, len, &fault) == 0;
}

/* Passes a notification on. Returns true for the answer to this request. */
static bool
link_is_answer(const struct link *k, const struct json *m, int64_t id)
{
    const struct json *params = json_get(m, "params");
    const struct json *m_id = json_get(m, "id");

    if (json_get(m, "method") && params && k->notified)
        k->notified(k->arg, params);
    return json_is(m_id, JSON_INTEGER) && m_id->integer == id;
}

/* Messages before the answer are notifications, or answers to requests that
 * nobody waits for. */
bool
link_find(struct link *k, int64_t id, struct json_doc *ret)
{
    while (link_next(k, ret)) {
        if (link_is_answer(k, ret->v, id))
            return true;
        json_fini(ret);
    }
    return false;
}

/* Reads until the answer is there. A signal handler may interrupt the read. */
bool
link_wait(struct link *k, int64_t id, struct json_doc *ret)
{
    for (;;) {
        if (link_find(k, id, ret))
            return true;
        int n = link_read(k);
        if (n <= 0 && n != -EINTR)
            return false;
    }
}
