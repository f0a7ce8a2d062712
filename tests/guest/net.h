/* Helpers for tests of sockets. */
#ifndef NET_H
#define NET_H

#include "proc.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

union addr {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

/* The loopback address with a port in host order; its length. */
static UNUSED socklen_t
loopback(union addr *a, int family, int port)
{
    memset(a, 0, sizeof *a);
    if (family == AF_INET6) {
        a->in6.sin6_family = AF_INET6;
        a->in6.sin6_addr = in6addr_loopback;
        a->in6.sin6_port = htons((uint16_t)port);
        return sizeof a->in6;
    }
    a->in.sin_family = AF_INET;
    a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a->in.sin_port = htons((uint16_t)port);
    return sizeof a->in;
}

static UNUSED int
port_of(int fd)
{
    union addr a;
    socklen_t len = sizeof a;

    OK(getsockname(fd, &a.sa, &len));
    return ntohs(a.sa.sa_family == AF_INET6 ? a.in6.sin6_port : a.in.sin_port);
}

/* A socket bound to loopback and a free port; streams listen. */
static UNUSED int
serve(int family, int type)
{
    union addr a;
    socklen_t len = loopback(&a, family, 0);
    int fd = OK(socket(family, type, 0));

    OK(bind(fd, &a.sa, len));
    if (type == SOCK_STREAM)
        OK(listen(fd, 8));
    CHECK(port_of(fd) > 0);
    return fd;
}

/* A stream socket connected to loopback. */
static UNUSED int
dial(int family, int port)
{
    union addr a;
    socklen_t len = loopback(&a, family, port);
    int fd = OK(socket(family, SOCK_STREAM, 0));

    OK(connect(fd, &a.sa, len));
    return fd;
}

/* Two ends of a TCP connection. */
static UNUSED void
tcp_pair(int fd[2])
{
    int l = serve(AF_INET, SOCK_STREAM);

    fd[0] = dial(AF_INET, port_of(l));
    fd[1] = OK(accept(l, NULL, NULL));
    OK(close(l));
}

/* An AF_UNIX name; a leading @ makes it abstract. Its length. */
static UNUSED socklen_t
unix_name(union addr *a, const char *name)
{
    memset(a, 0, sizeof *a);
    a->un.sun_family = AF_UNIX;
    strcpy(a->un.sun_path, name);
    if (name[0] == '@') {
        a->un.sun_path[0] = 0;
        return (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
                           strlen(name));
    }
    return sizeof a->un;
}

static UNUSED int
option_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof value;

    OK(getsockopt(fd, level, name, &value, &len));
    CHECK_EQ(len, sizeof value);
    return value;
}

/* Sends a descriptor with one byte of data. */
static UNUSED void
send_fd(int sock, int fd)
{
    union {
        struct cmsghdr align;
        char buf[CMSG_SPACE(sizeof(int))];
    } c;
    struct iovec iov = {"f", 1};
    struct msghdr m;
    struct cmsghdr *h;

    memset(&m, 0, sizeof m);
    memset(&c, 0, sizeof c);
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    m.msg_control = c.buf;
    m.msg_controllen = sizeof c.buf;
    h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(h), &fd, sizeof fd);
    CHECK_EQ(sendmsg(sock, &m, 0), 1);
}

/* Receives a descriptor sent by send_fd. */
static UNUSED int
recv_fd(int sock, int flags)
{
    union {
        struct cmsghdr align;
        char buf[CMSG_SPACE(sizeof(int))];
    } c;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr m;
    struct cmsghdr *h;
    int fd;

    memset(&m, 0, sizeof m);
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    m.msg_control = c.buf;
    m.msg_controllen = sizeof c.buf;
    CHECK_EQ(recvmsg(sock, &m, flags), 1);
    CHECK_EQ(byte, 'f');
    h = CMSG_FIRSTHDR(&m);
    CHECK(h != NULL);
    CHECK_EQ(h->cmsg_level, SOL_SOCKET);
    CHECK_EQ(h->cmsg_type, SCM_RIGHTS);
    CHECK_EQ(h->cmsg_len, CMSG_LEN(sizeof fd));
    memcpy(&fd, CMSG_DATA(h), sizeof fd);
    return fd;
}

#endif
