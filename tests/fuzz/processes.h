/* For fuzz targets with processes on fake machines, whose behaviour the input
 * determines. */
#ifndef FUZZ_PROCESSES_H
#define FUZZ_PROCESSES_H

#include "../unit/world.h"
#include "kernel/mqueue.h"
#include "kernel/segment.h"

#include <stdio.h>
#include <stdlib.h>

struct input {
    const uint8_t *p;
    size_t size, left;
    uint64_t state;
    unsigned idle_slices;
};

/* Returns the next byte of the input. After its end, up to `left` further bytes
 * are computed from the ones before, so that a short input makes a long run. */
static inline uint32_t
take(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    if (in->size) {
        in->size--;
        in->state = (in->state ^ *in->p) * UINT64_C(0x100000001b3);
        return *in->p++;
    }
    in->state = in->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(in->state >> 56);
}

/* Reaps ended processes. Returns true if none is left. */
static inline bool
is_alone(void *arg)
{
    struct kernel *k = arg;
    int status;

    LIST_FOR_EACH_SAFE(it, &k->init->children)
        (void)kernel_reap(k, CONTAINER_OF(it, struct task, sibling)->pid,
                          &status);
    return list_is_empty(&k->init->children);
}

static inline void
wake_all(struct kernel *k)
{
    LIST_FOR_EACH(it, &k->tasks) {
        struct task *t = CONTAINER_OF(it, struct task, link);
        if (!t->is_zombie)
            TASK_FOR_EACH_THREAD(th, t)
                thread_wake(th);
    }
}

/* Nothing is in use, but of `kept` (LIMIT_COUNT: of nothing). Message queues
 * with a name and segments outlive their processes. */
static inline void
check_given_back(struct kernel *k, enum limit_id kept)
{
    mqueues_fini(&k->mqueues);
    segments_free(k);
    for (enum limit_id i = 0; i < LIMIT_COUNT; i++)
        if (i != kept && k->limits.used[i]) {
            fprintf(stderr, "%s: %llu in use\n", limit_info(i)->name,
                    (unsigned long long)k->limits.used[i]);
            abort();
        }
}

#endif
