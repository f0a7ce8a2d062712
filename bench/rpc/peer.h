/* A program at the other end of two pipes, one line for each request. */
#ifndef RPC_PEER_H
#define RPC_PEER_H

#include <stddef.h>
#include <sys/types.h>

struct peer {
    pid_t pid;
    int in_hfd, out_hfd; /* as seen from here */
    char *buf;
    size_t len, cap; /* of what was read */
};

double now_us(void);
void die(const char *what);

/* argv: NULL-terminated. */
void peer_start(struct peer *p, const char *const *argv);
/* Closes its input and waits for its end. */
void peer_stop(struct peer *p);
void peer_send(const struct peer *p, const char *bytes, size_t len);
/* Reads n lines, none of them an error. The first one is at p->buf. */
void peer_receive(struct peer *p, size_t n);
/* A request and its answer; the time they took. */
double peer_ask(struct peer *p, const char *line);

#endif
