/* Reading events of inotify one at a time. */
#ifndef INOTIFY_H
#define INOTIFY_H

#include "guest.h"

#include <poll.h>
#include <sys/inotify.h>

struct seen {
    int wd;
    uint32_t mask, cookie;
    char name[256];
};

static UNUSED char queue_buf[8192]
    __attribute__((aligned(__alignof__(struct inotify_event))));
static UNUSED ssize_t queue_len, queue_at;

/* The next event, or mask 0: there is none. fd is non-blocking. */
static UNUSED struct seen
next_event(int fd)
{
    struct seen s = {0};

    if (queue_at == queue_len) {
        queue_at = 0;
        queue_len = read(fd, queue_buf, sizeof queue_buf);
        if (queue_len < 0) {
            CHECK_EQ(errno, EAGAIN);
            queue_len = 0;
            return s;
        }
    }
    struct inotify_event *e = (void *)(queue_buf + queue_at);
    CHECK(queue_at + (ssize_t)sizeof *e + e->len <= queue_len);
    CHECK_EQ(e->len % sizeof *e, 0);
    queue_at += (ssize_t)sizeof *e + e->len;
    s.wd = e->wd;
    s.mask = e->mask;
    s.cookie = e->cookie;
    if (e->len)
        strncpy(s.name, e->name, sizeof s.name - 1);
    return s;
}

#define NO_EVENT(fd) CHECK_EQ(next_event(fd).mask, 0)
#define EVENT(fd, w, m, n)                   \
    do {                                     \
        struct seen seen_ = next_event(fd);  \
        CHECK_EQ(seen_.mask, (uint32_t)(m)); \
        CHECK_EQ(seen_.wd, w);               \
        CHECK_STR(seen_.name, n);            \
    } while (0)

static UNUSED void
write_to(const char *path, const char *text, int flags)
{
    int fd = OK(open(path, O_WRONLY | O_CREAT | flags, 0644));

    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    OK(close(fd));
}

#endif
