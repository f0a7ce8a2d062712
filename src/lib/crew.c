/* Crews of threads: a queue of work, with threads on demand.
 *
 * A thread is started only if there is more queued work than idle threads, so a
 * process with one sandbox has few. Idle threads end after IDLE_S, except the
 * last of a crew: starting one costs more than a short job. Work is an
 * intrusive list entry of its owner; queueing it needs no memory and cannot
 * fail. If the host refuses a further thread, the existing ones do the work
 * later; crew_ensure guarantees one. */
#include "lib/crew.h"

#include "base/os_thread.h"
#include "base/os_time.h"
#include "base/own.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The default maximum of threads for jobs, and the time after which an idle
 * thread ends. */
enum { THREADS = 256, IDLE_S = 5 };

/* One thread of a crew. */
struct crew_thread {
    struct list link; /* in crews->threads, then in crews->ended */
    struct crew *crew;
    struct crew_work *work; /* at which it is */
    pthread_t thread;
};

/* Threads that have ended must be joined to release their stacks. They have
 * left the lock already, so joining does not wait for long. */
static void
crew_join_ended(struct crews *p)
{
    while (!list_is_empty(&p->ended)) {
        struct crew_thread *w =
            CONTAINER_OF(p->ended.next, struct crew_thread, link);
        list_remove(&w->link);
        pthread_join(w->thread, NULL);
        free(w);
    }
}

/* Waits for something to do. Returns false if the thread should end: after
 * IDLE_S without work, unless it is the last of its crew, or when the crews
 * stop. */
static bool
crew_wait_for_work(struct crew *c)
{
    struct timespec until = time_spec(time_mono_ns() + IDLE_S * NS_PER_S);
    int r = 0;

    c->n_idle++;
    while (!c->n_queued && !c->crews->stops && r == 0) {
        r = pthread_cond_clockwait(&c->wake, &c->crews->lock, CLOCK_MONOTONIC,
                                   &until);
        if (r == ETIMEDOUT && c->n_threads == 1) {
            until.tv_sec += IDLE_S;
            r = 0;
        }
    }
    c->n_idle--;
    return c->n_queued;
}

static struct crew_work *
crew_take_work(struct crew *c)
{
    struct crew_work *w = CONTAINER_OF(c->queue.next, struct crew_work, link);

    list_remove(&w->link);
    c->n_queued--;
    return w;
}

static void
crew_queue_work(struct crew *c, struct crew_work *w)
{
    if (!list_is_empty(&w->link))
        return;
    list_push_back(&c->queue, &w->link);
    c->n_queued++;
}

/* The main function of all threads. Work that asks for it is queued again at
 * the end, behind that of others. */
static void *
crew_thread_main(void *arg)
{
    struct crew_thread *w = arg;
    struct crew *c = w->crew;
    struct crews *p = c->crews;

    pthread_mutex_lock(&p->lock);
    while (c->n_queued || crew_wait_for_work(c)) {
        struct crew_work *work = w->work = crew_take_work(c);
        pthread_mutex_unlock(&p->lock);
        bool again = work->run(work);
        pthread_mutex_lock(&p->lock);
        w->work = NULL;
        if (again)
            crew_queue_work(c, work);
        if (p->n_watchers)
            pthread_cond_broadcast(&p->left);
    }
    c->n_threads--;
    list_remove(&w->link);
    list_push_back(&p->ended, &w->link);
    pthread_cond_broadcast(&p->left);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Starts a thread. Ended ones are joined first, so that their number does not
 * grow without limit. */
static int
crew_grow(struct crew *c)
{
    struct crew_thread *w = calloc(1, sizeof *w);

    crew_join_ended(c->crews);
    if (!w)
        return -EAGAIN;
    w->crew = c;
    int r = os_thread_start(&w->thread, crew_thread_main, w);
    if (r < 0) {
        free(w);
        return -EAGAIN;
    }
    c->n_threads++;
    list_push_back(&c->crews->threads, &w->link);
    return 0;
}

/* Queues w, and starts a thread if all are busy. Returns true if an idle thread
 * should be woken. If no thread can be started, an existing one does the work
 * later. */
static bool
crew_add_work(struct crew *c, struct crew_work *w)
{
    crew_queue_work(c, w);
    if (c->n_queued <= c->n_idle || c->n_threads == c->max_threads)
        return true;
    (void)crew_grow(c); /* else a thread comes to it later */
    return false;
}

void
crew_add_locked(struct crew *c, struct crew_work *w)
{
    if (crew_add_work(c, w))
        pthread_cond_signal(&c->wake);
}

/* Wakes a thread after unlocking, so that it finds the lock free. */
void
crew_add(struct crew *c, struct crew_work *w)
{
    pthread_mutex_lock(&c->crews->lock);
    bool wakes = crew_add_work(c, w);
    pthread_mutex_unlock(&c->crews->lock);
    if (wakes)
        pthread_cond_signal(&c->wake);
}

int
crew_ensure(struct crew *c)
{
    pthread_mutex_lock(&c->crews->lock);
    int r = c->n_threads ? 0 : crew_grow(c);
    pthread_mutex_unlock(&c->crews->lock);
    return r;
}

/* True if a thread of the crew is running this work. */
static bool
crew_is_at_work(const struct crews *p, const struct crew_work *work)
{
    LIST_FOR_EACH(it, &p->threads)
        if (CONTAINER_OF(it, struct crew_thread, link)->work == work)
            return true;
    return false;
}

bool
crew_take_back(struct crew *c, struct crew_work *w)
{
    pthread_mutex_lock(&c->crews->lock);
    bool is_queued = !list_is_empty(&w->link);
    if (is_queued) {
        list_remove(&w->link);
        c->n_queued--;
    }
    pthread_mutex_unlock(&c->crews->lock);
    return is_queued;
}

/* Afterwards no thread knows of the work, and its owner may free it. n_watchers
 * makes threads announce the end of each piece of work, which is usually not
 * necessary. */
void
crew_forget(struct crew *c, struct crew_work *w)
{
    struct crews *p = c->crews;

    (void)crew_take_back(c, w);
    pthread_mutex_lock(&p->lock);
    p->n_watchers++;
    while (crew_is_at_work(p, w))
        pthread_cond_wait(&p->left, &p->lock);
    p->n_watchers--;
    pthread_mutex_unlock(&p->lock);
}

void
crew_work_init(struct crew_work *w, bool (*run)(struct crew_work *w))
{
    list_init(&w->link);
    w->run = run;
}

/* --- creating and freeing */

static void
crew_init(struct crew *c, struct crews *p, uint32_t max)
{
    *c = (struct crew){.crews = p, .max_threads = max};
    list_init(&c->queue);
    pthread_cond_init(&c->wake, NULL);
}

/* Jobs may block for long, so there may be many threads for them. Background
 * processes compute, so one thread per processor is enough. */
int
crews_init(struct crews *p, uint32_t max_threads)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    *p = (struct crews){0};
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->left, NULL);
    list_init(&p->threads);
    list_init(&p->ended);
    crew_init(&p->jobs, p, max_threads ? max_threads : THREADS);
    crew_init(&p->background, p, processors > 0 ? (uint32_t)processors : 1);
    return poller_init(p);
}

/* Threads empty their queues before they end, because crew_wait_for_work
 * reports queued work even while the crews stop. */
void
crews_fini(struct crews *p)
{
    pthread_mutex_lock(&p->lock);
    p->stops = true;
    pthread_cond_broadcast(&p->jobs.wake);
    pthread_cond_broadcast(&p->background.wake);
    while (!list_is_empty(&p->threads))
        pthread_cond_wait(&p->left, &p->lock);
    crew_join_ended(p);
    pthread_mutex_unlock(&p->lock);
    poller_fini(p);
    pthread_cond_destroy(&p->jobs.wake);
    pthread_cond_destroy(&p->background.wake);
    pthread_cond_destroy(&p->left);
    pthread_mutex_destroy(&p->lock);
}
