/* A thread that frees large machines, so that their owners need not wait. */
#ifndef ENGINE_REAPER_H
#define ENGINE_REAPER_H

#include "base/own.h"

#include <pthread.h>
#include <stdbool.h>

struct engine_machine;

/* The list is not ordered: the last machine is freed first. */
struct reaper {
    pthread_t os_thread; /* if has_thread */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct engine_machine *dead; /* by next_dead */
    bool has_thread, stops;
};

void reaper_init(struct reaper *r);
void reaper_fini(struct reaper *r); /* after all machines have been freed */
/* Frees a machine, on the thread if there is one. Its future is gone
 * already. */
void reaper_add(struct reaper *r, OWN struct engine_machine *m);

#endif
