/* Returns freed memory to the host.
 *
 * Problem: malloc keeps freed memory. The files of a destroyed sandbox would be
 * paid for as long as the server runs.
 *
 * Idea: while the server is busy, the growth is measured. When it becomes idle,
 * memory is returned, except an amount that a busy sandbox would need again at
 * once. malloc_trim returns the free end of the first arena only, so the
 * program has no other (cli/main.c). */
#ifndef RPC_TIDY_H
#define RPC_TIDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tidy {
    int64_t due_ns; /* 0: nothing has happened since the last time */
    size_t low;     /* anonymous bytes, minimum since the last time */
    int statm_hfd;  /* what tells them; negative: nothing does */
};

/* Opens what it needs to look later. */
void tidy_init(struct tidy *t);
void tidy_fini(struct tidy *t);

/* After each wait of the loop; is_idle: for nothing. */
void tidy_look(struct tidy *t, int64_t now, bool is_idle);

#endif
