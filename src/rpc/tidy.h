/* Gives memory that was freed back to the host.
 *
 * malloc keeps it, and keeps it for the threads that freed it: the files of a
 * sandbox that is gone would be paid for once per thread. While the server is
 * busy, what has grown is looked at; when it falls idle, all is given back but
 * what a busy sandbox takes again at once, and what is free at the end of each
 * thread's arena: malloc_trim leaves it, up to the 64 MiB of cli/main.c. */
#ifndef RPC_TIDY_H
#define RPC_TIDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tidy {
    int64_t due_ns; /* 0: nothing has happened since the last time */
    size_t low;     /* anonymous bytes, the least since the last time */
    int statm_hfd;  /* what tells them; negative: nothing does */
};

/* Opens what it needs to look later. */
void tidy_init(struct tidy *t);
void tidy_fini(struct tidy *t);

/* After each wait of the loop; is_idle: for nothing. */
void tidy_look(struct tidy *t, int64_t now, bool is_idle);

#endif
