/* Frees instances with much memory. Returning it to the host can take a tenth
 * of a second, which the kernel's thread should not spend. The reaper's thread
 * starts with the first of them. */
#include "engine/reaper.h"

#include "base/os_thread.h"
#include "engine/machine_impl.h"

static OWN struct instance *
reaper_next(struct reaper *r)
{
    pthread_mutex_lock(&r->lock);
    while (!r->dead && !r->stops)
        pthread_cond_wait(&r->wake, &r->lock);
    struct instance *in = r->dead;
    if (in)
        r->dead = in->next_dead;
    pthread_mutex_unlock(&r->lock);
    return in;
}

static void *
reaper_run(void *arg)
{
    struct instance *in;

    while ((in = reaper_next(arg)))
        instance_dispose(in);
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

/* Without a thread, the instance is freed by the caller after all. */
void
reaper_add(struct reaper *r, OWN struct instance *in)
{
    pthread_mutex_lock(&r->lock);
    if (!r->has_thread)
        r->has_thread = !os_thread_start(&r->os_thread, reaper_run, r);
    if (r->has_thread) {
        in->next_dead = r->dead;
        r->dead = in;
        pthread_cond_signal(&r->wake);
        in = NULL;
    }
    pthread_mutex_unlock(&r->lock);
    if (in)
        instance_dispose(in);
}
