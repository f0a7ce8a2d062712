/* A client of the supervisor. */
#include "cli/link.h"

#include "base/hfd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES_MAX = 64 << 20, RETRY_MS = 20 };

/* One that serves soon has no socket yet, or one that refuses: a supervisor
 * that was killed leaves such a socket, and the next one replaces it. */
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

json_int_t
link_send(struct link *k, const char *method, OWN json_t *params)
{
    json_t *request =
        json_pack("{s:s, s:I, s:s, s:o*}", "jsonrpc", "2.0", "id", ++k->last_id,
                  "method", method, "params", params);
    char *line = json_dumps(request, JSON_COMPACT);

    if (line && hfd_write_all(k->hfd, line, strlen(line)) == 0)
        (void)hfd_write_all(k->hfd, "\n", 1);
    free(line);
    json_decref(request);
    return k->last_id;
}

int
link_read(struct link *k)
{
    return frame_read(&k->in, k->hfd, true);
}

json_t *
link_next(struct link *k)
{
    char *line;
    size_t len;

    if (frame_next(&k->in, &line, &len) != FRAME_LINE)
        return NULL;
    return json_loadb(line, len, JSON_ALLOW_NUL, NULL);
}

static bool
link_is_answer(const struct link *k, const json_t *m, json_int_t id)
{
    const json_t *params = json_object_get(m, "params");

    if (json_object_get(m, "method") && params && k->notified)
        k->notified(k->arg, params);
    return json_is_integer(json_object_get(m, "id")) &&
           json_integer_value(json_object_get(m, "id")) == id;
}

json_t *
link_find(struct link *k, json_int_t id)
{
    json_t *m;

    while ((m = link_next(k)) && !link_is_answer(k, m, id))
        json_decref(m);
    return m;
}

json_t *
link_wait(struct link *k, json_int_t id)
{
    for (;;) {
        json_t *m = link_find(k, id);
        int n = m ? 0 : link_read(k);
        if (n <= 0 && n != -EINTR)
            return m;
    }
}
