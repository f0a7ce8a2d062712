/* Sessions that nobody has used for a long time are ended, if the configuration
 * says so (store.retentionDays).
 *
 * The age counts from the last change of state. A session with a worker is in
 * use and stays. The check runs at the start and then every hour. */
#include "supervisor/session/session.h"

#include "supervisor/config/config.h"

#define HOUR_NS INT64_C(3600000000000)
#define DAY_MS  INT64_C(86400000)

/* A change that the store did not accept is saved later by session_state.c. */
static void
retention_ended(struct session *s, void *arg, int error, const char *why)
{
    (void)arg;
    (void)error; /* it is saved later */
    (void)why;
    session_forget(s);
}

static void
retention_end_if_old(struct session *s, void *before_ms)
{
    if (s->life || s->state == SESSION_ended ||
        s->changed_ms >= *(int64_t *)before_ms)
        return;
    session_enter(s, &(struct session_change){.to = SESSION_ended,
                                              .cause = CAUSE_retention,
                                              .done = retention_ended});
}

static void
retention_look(struct reactor_timer *t)
{
    struct supervisor *sv = CONTAINER_OF(t, struct supervisor, retention);
    int64_t before_ms =
        time_wall_ms() - sv->config->store_retention_days * DAY_MS;

    sessions_each(&sv->sessions, retention_end_if_old, &before_ms);
    reactor_set_timer(&sv->reactor, t, time_mono_ns() + HOUR_NS);
}

void
retention_begin(struct supervisor *sv)
{
    sv->retention.fire = retention_look;
    if (sv->config->store_retention_days)
        retention_look(&sv->retention);
}
