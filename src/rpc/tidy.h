/* Returns freed memory to the host.
 *
 * Problem: malloc keeps freed memory, separately for each thread that freed it.
 * The files of a destroyed sandbox would be paid for once per thread.
 *
 * Idea: while the server is busy, the growth is measured. When it becomes idle,
 * memory is returned, except an amount that a busy sandbox would need again at
 * once. malloc_trim also leaves the free end of each thread's arena, up to the
 * 64 MiB of cli/main.c. */
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
