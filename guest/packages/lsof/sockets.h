/* SPDX-License-Identifier: MIT */
/* The sockets of /proc/net, and which of them -i asks for. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct socket {
    unsigned long inode;
    int family; /* AF_INET, AF_INET6 or AF_UNIX */
    bool is_udp;
    unsigned char local[16], remote[16];
    unsigned local_port, remote_port, state;
    char path[108];
};

/* -i [46][tcp|udp][@host][:port[-port],...] */
struct filter {
    int family;   /* 0: both */
    int protocol; /* 't', 'u' or 0: both */
    bool has_host;
    int host_family;
    unsigned char host[16];
    const char *ports; /* NULL: all */
};

/* Reads all tables. */
void sockets_read(void);
/* NULL: not one of them. */
const struct socket *socket_find(unsigned long inode);
/* False: it has no such form. */
bool filter_parse(const char *text, struct filter *ret);
bool filter_matches(const struct filter *f, const struct socket *s);
/* "127.0.0.1:80->127.0.0.1:4711 (ESTABLISHED)" */
void socket_name(const struct socket *s, bool with_hosts, bool with_services,
                 char *ret, size_t size);

#endif
