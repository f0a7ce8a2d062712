/* A thread that frees large instances, so that their owners need not wait. */
#ifndef ENGINE_REAPER_H
#define ENGINE_REAPER_H

#include "base/own.h"

#include <pthread.h>
#include <stdbool.h>

struct instance;

/* The list is not ordered: the last instance is freed first. */
struct reaper {
    pthread_t os_thread; /* if has_thread */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct instance *dead; /* by next_dead */
    bool has_thread, stops;
};

void reaper_init(struct reaper *r);
void reaper_fini(struct reaper *r); /* after all instances have been freed */
/* Frees an instance, on the thread if there is one. It has no machines any
 * more. */
void reaper_add(struct reaper *r, OWN struct instance *in);

#endif
