/* inotify: a waiting read, poll and epoll see what another process does; a
 * queue that is full says that events are missing. */
/* post: fork */
#include "inotify.h"

#include <sys/epoll.h>

static int max_events;

static void
read_maximum(void)
{
    FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "r");

    CHECK(f != NULL);
    CHECK_EQ(fscanf(f, "%d", &max_events), 1);
    fclose(f);
}

static void
touch_in_child(void)
{
    pid_t pid = OK(fork());

    if (pid == 0) {
        write_to("f", "x", O_APPEND);
        _exit(0);
    }
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

int
main(void)
{
    struct epoll_event ev = {.events = EPOLLIN};
    struct seen s = {0};
    int in, ep, w, n = 0;

    write_to("f", "", 0);
    in = OK(inotify_init1(0));
    w = OK(inotify_add_watch(in, "f", IN_CLOSE_WRITE));
    struct pollfd p = {.fd = in, .events = POLLIN};
    ep = OK(epoll_create1(0));
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, in, &ev));
    CHECK_EQ(poll(&p, 1, 0), 0);
    CHECK_EQ(epoll_wait(ep, &ev, 1, 0), 0);

    pid_t pid = OK(fork());
    if (pid == 0) {
        write_to("f", "x", O_APPEND);
        _exit(0);
    }
    EVENT(in, w, IN_CLOSE_WRITE, "");
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    touch_in_child();
    CHECK_EQ(poll(&p, 1, -1), 1);
    CHECK_EQ(p.revents, POLLIN);
    CHECK_EQ(epoll_wait(ep, &ev, 1, -1), 1);
    EVENT(in, w, IN_CLOSE_WRITE, "");
    CHECK_EQ(poll(&p, 1, 0), 0);

    read_maximum();
    OK(fcntl(in, F_SETFL, O_NONBLOCK));
    OK(inotify_add_watch(in, "f", IN_ATTRIB | IN_MODIFY));
    for (int i = 0; i <= max_events; i++)
        OK(i % 2 ? chmod("f", 0600) : truncate("f", 0));
    for (;;) {
        s = next_event(in);
        if (!s.mask || s.mask == IN_Q_OVERFLOW)
            break;
        n++;
    }
    CHECK_EQ(s.mask, IN_Q_OVERFLOW);
    CHECK_EQ(s.wd, -1);
    CHECK_EQ(n, max_events);
    NO_EVENT(in);
    OK(chmod("f", 0644));
    EVENT(in, w, IN_ATTRIB, "");
    return 0;
}
