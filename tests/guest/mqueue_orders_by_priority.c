/* Message queues: names, attributes, order, limits and errors. */
#include "mqueue.h"

#include <poll.h>
#include <sys/resource.h>

static void
names(void)
{
    char longest[300];
    mqd_t q;

    CHECK_ERR(mq_open("/guest.missing", O_RDWR), ENOENT);
    CHECK_ERR(mq_unlink("/guest.missing"), ENOENT);
    CHECK_ERR(mq_open("/guest/slash", O_RDWR | O_CREAT, 0600, NULL), EACCES);
    memset(longest, 'a', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 1] = 0;
    CHECK_ERR(mq_open(longest, O_RDWR | O_CREAT, 0600, NULL), ENAMETOOLONG);
    CHECK_ERR(mq_unlink(longest), ENAMETOOLONG);

    q = mqueue_new(O_RDWR, 4, 100);
    CHECK_ERR(mq_open(mqueue_name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL),
              EEXIST);
    mqd_t again = OK(mq_open(mqueue_name, O_RDONLY));
    mqueue_put(q, "hello", 0);
    OK(mq_unlink(mqueue_name));
    CHECK_ERR(mq_open(mqueue_name, O_RDWR), ENOENT);
    CHECK_MESSAGE(again, "hello", 0); /* it lives on */
    OK(mq_close(again));
    OK(mq_close(q));
    CHECK_ERR(mq_close(q), EBADF);
}

static void
sizes(void)
{
    struct mq_attr attr = {.mq_maxmsg = 0, .mq_msgsize = 10};

    CHECK_ERR(mq_open("/guest.size", O_RDWR | O_CREAT, 0600, &attr), EINVAL);
    attr = (struct mq_attr){.mq_maxmsg = 10, .mq_msgsize = -1};
    CHECK_ERR(mq_open("/guest.size", O_RDWR | O_CREAT, 0600, &attr), EINVAL);
    attr = (struct mq_attr){.mq_maxmsg = 11, .mq_msgsize = 10};
    CHECK_ERR(mq_open("/guest.size", O_RDWR | O_CREAT, 0600, &attr), EINVAL);
    attr = (struct mq_attr){.mq_maxmsg = 10, .mq_msgsize = 8193};
    CHECK_ERR(mq_open("/guest.size", O_RDWR | O_CREAT, 0600, &attr), EINVAL);

    struct rlimit old, none = {100, 819200};
    OK(getrlimit(RLIMIT_MSGQUEUE, &old));
    none.rlim_max = old.rlim_max;
    OK(setrlimit(RLIMIT_MSGQUEUE, &none));
    CHECK_ERR(mq_open("/guest.size", O_RDWR | O_CREAT, 0600, NULL), EMFILE);
    OK(setrlimit(RLIMIT_MSGQUEUE, &old));
}

static void
attributes(mqd_t q)
{
    struct mq_attr attr, old, set = {.mq_flags = O_NONBLOCK, .mq_maxmsg = 9};
    char byte;

    OK(mq_getattr(q, &attr));
    CHECK_EQ(attr.mq_flags, 0);
    CHECK_EQ(attr.mq_maxmsg, 4);
    CHECK_EQ(attr.mq_msgsize, 100);
    CHECK_EQ(attr.mq_curmsgs, 0);
    OK(mq_setattr(q, &set, &old));
    CHECK_EQ(old.mq_flags, 0);
    OK(mq_getattr(q, &attr));
    CHECK_EQ(attr.mq_flags, O_NONBLOCK);
    CHECK_EQ(attr.mq_maxmsg, 4);
    CHECK_ERR(mq_receive(q, (char[100]){0}, 100, NULL), EAGAIN);
    set.mq_flags = O_APPEND;
    CHECK_ERR(mq_setattr(q, &set, NULL), EINVAL);
    CHECK_ERR(mq_receive(q, &byte, 1, NULL), EMSGSIZE);
    CHECK_ERR(mq_getattr(-1, &attr), EBADF);
    CHECK_ERR(mq_getattr(0, &attr), EBADF); /* not a queue */
    CHECK(fcntl(q, F_GETFD) & FD_CLOEXEC);
}

static void
order(mqd_t q)
{
    struct mq_attr attr;

    mqueue_put(q, "low", 1);
    mqueue_put(q, "high", 7);
    mqueue_put(q, "high again", 7);
    mqueue_put(q, "middle", 3);
    OK(mq_getattr(q, &attr));
    CHECK_EQ(attr.mq_curmsgs, 4);
    CHECK_ERR(mq_send(q, "x", 1, 0), EAGAIN);
    CHECK_MESSAGE(q, "high", 7);
    CHECK_MESSAGE(q, "high again", 7);
    mqueue_put(q, "", 2);
    CHECK_MESSAGE(q, "middle", 3);
    CHECK_MESSAGE(q, "", 2);
    CHECK_MESSAGE(q, "low", 1);
    CHECK_ERR(mq_send(q, "x", 1, 32768), EINVAL);
    CHECK_ERR(mq_send(q, (char[101]){0}, 101, 0), EMSGSIZE);
    OK(mq_send(q, "x", 1, 32767));
    CHECK_MESSAGE(q, "x", 32767);
    CHECK_ERR(mq_send(q, BAD_ADDR, 50, 0), EFAULT);
}

static void
rights(mqd_t q)
{
    mqd_t reader = OK(mq_open(mqueue_name, O_RDONLY));
    mqd_t writer = OK(mq_open(mqueue_name, O_WRONLY));

    CHECK_ERR(mq_send(reader, "x", 1, 0), EBADF);
    CHECK_ERR(mq_receive(writer, (char[100]){0}, 100, NULL), EBADF);
    mqueue_put(writer, "over", 0);
    CHECK_MESSAGE(reader, "over", 0);
    OK(mq_close(reader));
    OK(mq_close(writer));

    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 1};
    char name[80];
    snprintf(name, sizeof name, "%s.mode", mqueue_name);
    mqd_t made = OK(mq_open(name, O_RDWR | O_CREAT, 0400, &attr));
    CHECK_ERR(mq_open(name, O_WRONLY), EACCES);
    OK(mq_send(made, "x", 1, 0));
    OK(mq_unlink(name));
    OK(mq_close(made));
}

static void
deadlines(mqd_t q)
{
    struct timespec past = {1, 0}, bad = {1, 1000000000};
    struct timespec soon = thread_deadline(20);
    struct mq_attr set = {0};
    char text[100];

    OK(mq_setattr(q, &set, NULL));
    CHECK_ERR(mq_timedreceive(q, text, 100, NULL, &past), ETIMEDOUT);
    CHECK_ERR(mq_timedreceive(q, text, 100, NULL, &bad), EINVAL);
    CHECK_ERR(mq_timedreceive(q, text, 100, NULL, &soon), ETIMEDOUT);
    for (int i = 0; i < 4; i++)
        OK(mq_timedsend(q, "x", 1, 0, &past));
    CHECK_ERR(mq_timedsend(q, "x", 1, 0, &past), ETIMEDOUT);
    CHECK_EQ(mq_timedreceive(q, text, 100, NULL, &past), 1);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(mq_receive(q, text, 100, NULL), 1);
}

static void
polls(mqd_t q)
{
    struct pollfd p = {.fd = (int)q, .events = POLLIN | POLLOUT};

    CHECK_EQ(poll(&p, 1, 0), 1);
    CHECK_EQ(p.revents, POLLOUT);
    for (int i = 0; i < 4; i++)
        mqueue_put(q, "x", 0);
    CHECK_EQ(poll(&p, 1, 0), 1);
    CHECK_EQ(p.revents, POLLIN);
    for (int i = 0; i < 4; i++)
        CHECK_MESSAGE(q, "x", 0);
}

int
main(void)
{
    mqd_t q;

    as_user();
    names();
    sizes();
    q = mqueue_new(O_RDWR, 4, 100);
    attributes(q);
    order(q);
    rights(q);
    deadlines(q);
    polls(q);
    return 0;
}
