/* Random work: commits, some in parts, forks, ends, upkeep, alone and in
 * transactions, durable or not. */
#include "workload.h"

#include "../unit/test.h"

#include <stdio.h>
#include <string.h>

/* A step under way changes the last state; others see it when it succeeded. */
#define draft(w) (&(w)->states[(w)->n])

static unsigned
below(struct workload *w, unsigned n)
{
    return next_random(&w->random) % n;
}

void
workload_init(struct workload *w, const struct store_options *o, uint32_t seed)
{
    memset(w, 0, sizeof *w);
    world_init(&w->world, o);
    w->random = seed;
    w->n = 1;
    w->may_reopen = true;
    buf_init(&w->frames, SIZE_MAX / 4);
}

void
workload_fini(struct workload *w)
{
    buf_fini(&w->frames);
    world_fini(&w->world);
}

const struct state *
workload_now(const struct workload *w)
{
    return &w->states[w->n - 1];
}

/* --- operations: an error, 0, or NOTHING could be done */

enum { NOTHING = 1 };

static struct model_session *
pick(struct workload *w, bool exists)
{
    struct state *t = draft(w);
    unsigned at = below(w, WORKLOAD_SESSIONS);

    for (unsigned i = 0; i < WORKLOAD_SESSIONS; i++) {
        struct model_session *m = &t->sessions[(at + i) % WORKLOAD_SESSIONS];
        if ((*m->id != 0) == exists)
            return m;
    }
    return NULL;
}

static void
name(struct workload *w, struct model_session *m)
{
    (void)snprintf(m->id, sizeof m->id, "s%u", ++w->n_ids);
}

static int
do_create(struct workload *w)
{
    struct model_session *m = pick(w, false);

    if (!m)
        return NOTHING;
    memset(m, 0, sizeof *m);
    name(w, m);
    return session_new(w->world.s, m->id);
}

static void
change(struct workload *w, struct model_session *m)
{
    for (unsigned n = 1 + below(w, 8); n; n--) {
        unsigned k = below(w, MODEL_KEYS);
        m->value[k] = below(w, 3) ? 1 + below(w, 5000) : 0;
        model_add(&w->frames, k, m->value[k]);
    }
}

static int
do_commit(struct workload *w)
{
    struct model_session *m = pick(w, true);

    if (!m)
        return NOTHING;
    change(w, m);
    return commit_frames(w->world.s, m->id, &w->frames);
}

static int
do_parts(struct workload *w)
{
    struct model_session *m = pick(w, true);
    unsigned n = 1 + below(w, 4);
    int r = m ? 0 : NOTHING;

    for (unsigned i = 0; m && i < n && r == 0; i++) {
        change(w, m);
        r = commit_part(w->world.s, m->id, &w->frames, !i, i == n - 1);
    }
    return r;
}

/* Parts whose end does not come. */
static int
do_discard(struct workload *w)
{
    struct model_session *m = pick(w, true);

    if (!m)
        return NOTHING;
    struct model_session lost = *m;
    change(w, &lost);
    int r = commit_part(w->world.s, m->id, &w->frames, true, false);
    return r < 0 || below(w, 2) ? r : store_discard(w->world.s, m->id);
}

static int
do_fork(struct workload *w)
{
    struct model_session *from = pick(w, true), *to = pick(w, false);

    if (!from || !to)
        return NOTHING;
    *to = *from;
    name(w, to);
    return session_fork(w->world.s, from->id, to->id);
}

static int
do_end(struct workload *w)
{
    struct model_session *m = pick(w, true);
    char id[16];

    if (!m)
        return NOTHING;
    memcpy(id, m->id, sizeof id);
    m->id[0] = 0;
    return session_end(w->world.s, id);
}

static int
do_some(struct workload *w)
{
    static int (*const some[])(struct workload * w) = {
        do_create, do_commit, do_commit,  do_commit, do_commit,
        do_parts,  do_fork,   do_discard, do_fork,   do_end,
    };

    return some[below(w, sizeof some / sizeof *some)](w);
}

/* --- steps */

/* The draft is what the store has now. */
static void
accept(struct workload *w, bool is_durable)
{
    w->n++;
    w->is_durable = is_durable;
}

static void
begin_step(struct workload *w)
{
    if (w->is_durable) {
        w->states[0] = w->states[w->n - 1];
        w->n = 1;
    }
    w->is_durable = false;
    *draft(w) = *workload_now(w);
    w->frames.len = 0;
}

static int
step_alone(struct workload *w)
{
    int r = do_some(w);

    if (r == 0)
        accept(w, true);
    return r < 0 ? r : 0;
}

static int
step_together(struct workload *w, bool is_durable)
{
    int r = store_begin(w->world.s, is_durable);

    if (r < 0)
        return r;
    for (unsigned n = 1 + below(w, 4); n && r >= 0; n--)
        r = do_some(w);
    if (r < 0) {
        store_undo(w->world.s);
        return r;
    }
    r = store_end(w->world.s);
    if (r == 0)
        accept(w, is_durable);
    return r;
}

static int
step_upkeep(struct workload *w)
{
    int r = store_tidy(w->world.s, 0);

    for (unsigned n = below(w, 40); n && r > 0; n--)
        r = store_tidy(w->world.s, 0);
    if (r >= 0 && !below(w, 4))
        r = store_checkpoint(w->world.s);
    return r < 0 ? r : 0;
}

static int
step_sync(struct workload *w)
{
    int r = store_sync(w->world.s);

    if (r == 0)
        accept(w, true);
    return r;
}

static void
reopen(struct workload *w)
{
    world_reopen(&w->world);
    if (state_is(w->world.s, workload_now(w)) ||
        !state_is(w->world.s, &w->failed))
        return;
    *draft(w) = w->failed;
    accept(w, false);
    *draft(w) = *workload_now(w);
}

static int
any_step(struct workload *w)
{
    unsigned kind = below(w, 12);

    if (kind < 4)
        return step_alone(w);
    if (kind < 6)
        return step_together(w, true);
    if (kind < 8 && w->n < WORKLOAD_STATES - 3)
        return step_together(w, false);
    if (kind == 8)
        return step_sync(w);
    if (kind == 9 && w->may_reopen && !below(w, 10))
        reopen(w);
    return step_upkeep(w);
}

int
workload_step(struct workload *w)
{
    begin_step(w);
    int r = any_step(w);
    if (r < 0)
        w->failed = *draft(w);
    return r;
}

/* --- what is there */

static int
count_one(void *arg, const struct store_session *row)
{
    (void)row;
    ++*(unsigned *)arg;
    return 0;
}

bool
state_is(struct store *s, const struct state *t)
{
    unsigned n = 0, want = 0;

    for (unsigned i = 0; i < WORKLOAD_SESSIONS; i++) {
        const struct model_session *m = &t->sessions[i];
        if (*m->id && !model_is(s, m))
            return false;
        want += *m->id != 0;
    }
    return !store_session_list(s, &(struct store_filter){0}, count_one, &n) &&
           n == want;
}

bool
workload_has(const struct workload *w, struct store *s)
{
    for (unsigned i = 0; i < w->n; i++)
        if (state_is(s, &w->states[i]))
            return true;
    return state_is(s, draft(w)) || state_is(s, &w->failed);
}

static void
print_finding(void *arg, const struct store_finding *f)
{
    (void)arg;
    printf("  fsck: %s %s: %s\n", f->session, f->path, f->what);
}

bool
fsck_is_clean(struct store *s)
{
    int r = store_fsck(s, false, print_finding, NULL);

    if (r < 0)
        printf("  fsck: %s\n", store_why(s));
    return r == 0;
}
