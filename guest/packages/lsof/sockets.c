/* SPDX-License-Identifier: MIT */
#include "sockets.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <err.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct socket *sockets;
static size_t n_sockets;

static struct socket *
add_socket(void)
{
    struct socket *v = realloc(sockets, (n_sockets + 1) * sizeof *v);

    if (!v)
        err(1, NULL);
    sockets = v;
    v += n_sockets++;
    *v = (struct socket){0};
    return v;
}

/* --- reading /proc/net */

/* Words of hexadecimal digits, each in the order of the machine. */
static void
parse_address(const char *text, int family, unsigned char *ret)
{
    int words = family == AF_INET6 ? 4 : 1;

    for (int i = 0; i < words; i++) {
        char digits[9] = "";
        memcpy(digits, text + 8 * i, 8);
        uint32_t word = (uint32_t)strtoul(digits, NULL, 16);
        memcpy(ret + 4 * i, &word, 4);
    }
}

static void
read_inet(const char *path, int family, bool is_udp)
{
    FILE *f = fopen(path, "r");
    char line[512], local[40], remote[40];
    struct socket s = {.family = family, .is_udp = is_udp};

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line,
                   " %*d: %32[0-9A-Fa-f]:%x %32[0-9A-Fa-f]:%x %x %*s %*s %*s "
                   "%*d %*d %lu",
                   local, &s.local_port, remote, &s.remote_port, &s.state,
                   &s.inode) != 6)
            continue;
        parse_address(local, family, s.local);
        parse_address(remote, family, s.remote);
        *add_socket() = s;
    }
    if (f)
        fclose(f);
}

static void
read_unix(void)
{
    FILE *f = fopen("/proc/net/unix", "r");
    char line[512];

    while (f && fgets(line, sizeof line, f)) {
        struct socket s = {.family = AF_UNIX};
        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu %107s", &s.inode,
                   s.path) >= 1)
            *add_socket() = s;
    }
    if (f)
        fclose(f);
}

void
sockets_read(void)
{
    read_inet("/proc/net/tcp", AF_INET, false);
    read_inet("/proc/net/tcp6", AF_INET6, false);
    read_inet("/proc/net/udp", AF_INET, true);
    read_inet("/proc/net/udp6", AF_INET6, true);
    read_unix();
}

const struct socket *
socket_find(unsigned long inode)
{
    for (size_t i = 0; i < n_sockets; i++)
        if (sockets[i].inode == inode)
            return &sockets[i];
    return NULL;
}

/* --- filters */

static bool
parse_host(struct filter *f, const char *host)
{
    struct addrinfo *found = NULL;

    f->has_host = true;
    if (getaddrinfo(host, NULL, NULL, &found) != 0)
        return false;
    f->host_family = found->ai_family;
    if (found->ai_family == AF_INET)
        memcpy(f->host,
               &((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr, 4);
    else
        memcpy(f->host,
               &((struct sockaddr_in6 *)(void *)found->ai_addr)->sin6_addr, 16);
    freeaddrinfo(found);
    return true;
}

/* The number of a port, or that of its name; -1: there is none such. */
static long
port_number(const char *text, size_t len)
{
    char name[64], *end;

    (void)snprintf(name, sizeof name, "%.*s", (int)len, text);
    long n = strtol(name, &end, 10);
    if (*name && !*end)
        return n;
    const struct servent *s = getservbyname(name, NULL);
    return s ? ntohs((uint16_t)s->s_port) : -1;
}

static bool
is_in_ports(const char *ports, unsigned port)
{
    for (const char *p = ports; *p; p += *p == ',') {
        size_t len = strcspn(p, ","), first = strcspn(p, "-,");
        long from = port_number(p, first), to = from;
        if (first < len)
            to = port_number(p + first + 1, len - first - 1);
        if ((long)port >= from && (long)port <= to)
            return true;
        p += len;
    }
    return false;
}

bool
filter_parse(const char *text, struct filter *ret)
{
    char host[256];

    *ret = (struct filter){0};
    if (*text == '4' || *text == '6')
        ret->family = *text++ == '4' ? AF_INET : AF_INET6;
    if (!strncasecmp(text, "tcp", 3) || !strncasecmp(text, "udp", 3)) {
        ret->protocol = tolower((unsigned char)*text);
        text += 3;
    }
    if (*text == '@') {
        bool is_bracketed = text[1] == '[';
        text += is_bracketed ? 2 : 1;
        size_t len = strcspn(text, is_bracketed ? "]" : ":");
        (void)snprintf(host, sizeof host, "%.*s", (int)len, text);
        text += len + is_bracketed;
        if (!parse_host(ret, host))
            return false;
    }
    if (*text == ':')
        ret->ports = ++text;
    return !*text || ret->ports;
}

static bool
is_host(const struct filter *f, const struct socket *s)
{
    size_t len = f->host_family == AF_INET ? 4 : 16;

    return s->family == f->host_family && (!memcmp(s->local, f->host, len) ||
                                           !memcmp(s->remote, f->host, len));
}

bool
filter_matches(const struct filter *f, const struct socket *s)
{
    if (s->family == AF_UNIX || (f->family && s->family != f->family))
        return false;
    if (f->protocol && (f->protocol == 'u') != s->is_udp)
        return false;
    if (f->has_host && !is_host(f, s))
        return false;
    return !f->ports || is_in_ports(f->ports, s->local_port) ||
           (s->remote_port && is_in_ports(f->ports, s->remote_port));
}

/* --- names */

static bool
is_any(const unsigned char *a)
{
    static const unsigned char none[16];

    return !memcmp(a, none, sizeof none);
}

static void
put_end(const struct socket *s, const unsigned char *a, unsigned port,
        bool with_hosts, bool with_services, char *ret, size_t size)
{
    char host[128] = "*", address[64] = "*", service[64] = "*";
    socklen_t len = s->family == AF_INET ? 4 : 16;

    if (!is_any(a)) {
        const struct hostent *h =
            with_hosts ? gethostbyaddr(a, len, s->family) : NULL;
        inet_ntop(s->family, a, address, sizeof address);
        (void)snprintf(host, sizeof host,
                       !h && s->family == AF_INET6 ? "[%s]" : "%s",
                       h ? h->h_name : address);
    }
    const struct servent *named =
        with_services
            ? getservbyport(htons((uint16_t)port), s->is_udp ? "udp" : "tcp")
            : NULL;
    if (named)
        (void)snprintf(service, sizeof service, "%s", named->s_name);
    else if (port)
        (void)snprintf(service, sizeof service, "%u", port);
    (void)snprintf(ret, size, "%s:%s", host, service);
}

void
socket_name(const struct socket *s, bool with_hosts, bool with_services,
            char *ret, size_t size)
{
    static const char *const states[] = {
        "",           "ESTABLISHED", "SYN_SENT",  "SYN_RECV",
        "FIN_WAIT1",  "FIN_WAIT2",   "TIME_WAIT", "CLOSE",
        "CLOSE_WAIT", "LAST_ACK",    "LISTEN",    "CLOSING"};
    char local[200], remote[200] = "", state[32] = "";

    if (s->family == AF_UNIX) {
        (void)snprintf(ret, size, "%s", *s->path ? s->path : "socket");
        return;
    }
    put_end(s, s->local, s->local_port, with_hosts, with_services, local,
            sizeof local);
    if (s->remote_port)
        put_end(s, s->remote, s->remote_port, with_hosts, with_services, remote,
                sizeof remote);
    if (!s->is_udp && s->state < sizeof states / sizeof *states)
        (void)snprintf(state, sizeof state, " (%s)", states[s->state]);
    (void)snprintf(ret, size, "%s%s%s%s", local, *remote ? "->" : "", remote,
                   state);
}
