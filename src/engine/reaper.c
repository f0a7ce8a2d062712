/* Frees machines with much memory. Returning it to the host can take a tenth of
 * a second, which the kernel's thread should not spend. The reaper's thread
 * starts with the first of them. */
#include "engine/reaper.h"

#include "base/os_thread.h"
#include "engine/machine_impl.h"

static OWN struct engine_machine *
reaper_next(struct reaper *r)
{
    pthread_mutex_lock(&r->lock);
    while (!r->dead && !r->stops)
        pthread_cond_wait(&r->wake, &r->lock);
    struct engine_machine *m = r->dead;
    if (m)
        r->dead = m->next_dead;
    pthread_mutex_unlock(&r->lock);
    return m;
}

static void *
reaper_run(void *arg)
{
    struct engine_machine *m;

    while ((m = reaper_next(arg)))
        machine_dispose(m);
    return NULL;
}

void
reaper_init(struct reaper *r)
{
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->wake, NULL);
}

void
reaper_fini(struct reaper *r)
{
    pthread_mutex_lock(&r->lock);
    r->stops = true;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
    if (r->has_thread)
        pthread_join(r->os_thread, NULL);
}

/* Without a thread, the machine is freed by the caller after all. */
void
reaper_add(struct reaper *r, OWN struct engine_machine *m)
{
    pthread_mutex_lock(&r->lock);
    if (!r->has_thread)
        r->has_thread = !os_thread_start(&r->os_thread, reaper_run, r);
    if (r->has_thread) {
        m->next_dead = r->dead;
        r->dead = m;
        pthread_cond_signal(&r->wake);
        m = NULL;
    }
    pthread_mutex_unlock(&r->lock);
    if (m)
        machine_dispose(m);
}
