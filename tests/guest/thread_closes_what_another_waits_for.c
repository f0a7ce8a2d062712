/* close while another thread waits in poll, accept or epoll_wait: the wait goes
 * on, as on Linux. */
#include "net.h"
#include "thread.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/un.h>

static volatile pid_t tid;
static int fds[2];

static pthread_t
start_and_await_sleep(void *(*run)(void *))
{
    tid = 0;
    pthread_t t = thread_start(run, NULL);
    thread_await((volatile int *)&tid);
    thread_await_sleep(tid);
    return t;
}

static void *
polls(void *arg)
{
    struct pollfd p = {.fd = fds[0], .events = POLLIN};

    (void)arg;
    tid = thread_id();
    CHECK_EQ(poll(&p, 1, -1), 1);
    return (void *)(long)p.revents;
}

/* The file wakes the thread, which then looks for the descriptor again. */
static void
check_poll(void)
{
    OK(pipe(fds));
    pthread_t t = start_and_await_sleep(polls);
    int keep = OK(dup(fds[0]));
    OK(close(fds[0]));
    CHECK_EQ(write(fds[1], "x", 1), 1);
    CHECK_EQ((long)thread_join(t), POLLNVAL);
    OK(close(keep));
    OK(close(fds[1]));
}

static void *
accepts(void *arg)
{
    (void)arg;
    tid = thread_id();
    return (void *)(long)accept(fds[0], NULL, NULL);
}

static void
check_accept(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    strcpy(name.sun_path, "socket");
    fds[0] = OK(socket(AF_UNIX, SOCK_STREAM, 0));
    OK(bind(fds[0], (void *)&name, sizeof name));
    OK(listen(fds[0], 1));
    pthread_t t = start_and_await_sleep(accepts);
    int keep = OK(dup(fds[0]));
    OK(close(fds[0]));
    int client = OK(socket(AF_UNIX, SOCK_STREAM, 0));
    OK(connect(client, (void *)&name, sizeof name));
    int served = (int)(long)thread_join(t);
    CHECK(served >= 0);
    CHECK_EQ(write(client, "x", 1), 1);
    char byte;
    CHECK_EQ(read(served, &byte, 1), 1);
    OK(close(served));
    OK(close(client));
    OK(close(keep));
}

static int set;

static void *
waits(void *arg)
{
    struct epoll_event e;

    (void)arg;
    tid = thread_id();
    CHECK_EQ(epoll_wait(set, &e, 1, -1), 1);
    return (void *)(long)e.data.fd;
}

/* Closing the last descriptor of a file takes it out of the set; another file
 * still ends the wait. */
static void
check_epoll(void)
{
    int other[2];

    OK(pipe(fds));
    OK(pipe(other));
    set = OK(epoll_create1(0));
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fds[0]};
    OK(epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &e));
    e.data.fd = other[0];
    OK(epoll_ctl(set, EPOLL_CTL_ADD, other[0], &e));
    pthread_t t = start_and_await_sleep(waits);
    int number = other[0];
    OK(close(fds[0]));
    OK(close(fds[1]));
    CHECK_EQ(write(other[1], "x", 1), 1);
    CHECK_EQ((long)thread_join(t), number);

    char byte;
    CHECK_EQ(read(other[0], &byte, 1), 1);
    t = start_and_await_sleep(waits);
    int keep = OK(dup(set));
    OK(close(set)); /* the set itself */
    CHECK_EQ(write(other[1], "x", 1), 1);
    CHECK_EQ((long)thread_join(t), number);
    OK(close(keep));
    OK(close(other[0]));
    OK(close(other[1]));
}

int
main(void)
{
    tmpdir();
    check_poll();
    check_accept();
    check_epoll();
    return 0;
}
