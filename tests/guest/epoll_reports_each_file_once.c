/* Each ready file is reported once, however many there are and however much
 * room for events. */
#include "guest.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

int
main(void)
{
    enum { FILES = 50, ROOM = 500 };
    static struct epoll_event ev[ROOM];
    int seen[FILES] = {0}, ep = OK(epoll_create1(0));

    for (uint32_t i = 0; i < FILES; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
        OK(epoll_ctl(ep, EPOLL_CTL_ADD, OK(eventfd(1, 0)), &e));
    }
    CHECK_EQ(epoll_wait(ep, ev, ROOM, 0), FILES);
    for (int i = 0; i < FILES; i++)
        seen[ev[i].data.u32]++;
    for (int i = 0; i < FILES; i++)
        CHECK_EQ(seen[i], 1);
    CHECK_EQ(epoll_wait(ep, ev, 20, 0), 20);
    return 0;
}
