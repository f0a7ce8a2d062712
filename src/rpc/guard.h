/* A last resort for the end of the server: a thread that ends the process when
 * the orderly way, which has to wait for every sandbox, takes too long. */
#ifndef RPC_GUARD_H
#define RPC_GUARD_H

#include <pthread.h>
#include <stdbool.h>

enum { GUARD_S = 10 };

struct guard {
    pthread_mutex_t lock;
    pthread_cond_t over;
    pthread_t thread;
    bool has_thread;
    bool is_over; /* guarded by lock */
};

void guard_init(struct guard *g);
/* Unless guard_fini is called within GUARD_S seconds, the process ends with a
 * message on standard error and status 1. */
void guard_start(struct guard *g);
void guard_fini(struct guard *g);

#endif
