/* Every transition of the state machine of a session's life. */
#include "supervisor/session/life_table.h"

#include "../unit/test.h"

#include <stdbool.h>
#include <stddef.h>

struct row {
    enum life_phase phase;
    enum life_event event;
    enum life_action action;
    enum life_phase next;
};

/* Written apart from the table, by subject: what is not here is ignored. */
static const struct row rows[] = {
    /* a worker is found, given the state, and serves */
    {LIFE_NEW_WANTING, LIFE_WORKER, LIFE_DO_LOAD, LIFE_NEW_LOADING},
    {LIFE_WANTING, LIFE_WORKER, LIFE_DO_LOAD, LIFE_LOADING},
    {LIFE_NEW_LOADING, LIFE_READY, LIFE_NOTE, LIFE_NEW_READY},
    {LIFE_LOADING, LIFE_READY, LIFE_DO_SERVE, LIFE_SERVING},

    /* the row of a new session comes at any time */
    {LIFE_NEW_WANTING, LIFE_ROW, LIFE_NOTE, LIFE_WANTING},
    {LIFE_NEW_LOADING, LIFE_ROW, LIFE_NOTE, LIFE_LOADING},
    {LIFE_NEW_READY, LIFE_ROW, LIFE_DO_SERVE, LIFE_SERVING},
    {LIFE_NEW_ENDED, LIFE_ROW, LIFE_DO_SERVE_DEAD, LIFE_SERVING},
    {LIFE_NEW_KILLING, LIFE_ROW, LIFE_NOTE, LIFE_KILLING},
    {LIFE_NEW_REAPED, LIFE_ROW, LIFE_NOTE, LIFE_REAPED},

    /* or cannot be stored */
    {LIFE_NEW_WANTING, LIFE_ROW_FAILED, LIFE_DO_DECIDE, LIFE_REAPED},
    {LIFE_NEW_LOADING, LIFE_ROW_FAILED, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_NEW_READY, LIFE_ROW_FAILED, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_NEW_ENDED, LIFE_ROW_FAILED, LIFE_DO_KILL_DEAD, LIFE_REAPED},
    {LIFE_NEW_KILLING, LIFE_ROW_FAILED, LIFE_DO_DECIDE, LIFE_KILLING},
    {LIFE_NEW_REAPED, LIFE_ROW_FAILED, LIFE_DO_DECIDE, LIFE_REAPED},

    /* a pause lets runs end, a stop cancels them, also after a pause */
    {LIFE_SERVING, LIFE_PAUSE, LIFE_DO_LEAVE, LIFE_LEAVING},
    {LIFE_SERVING, LIFE_STOP, LIFE_DO_STOP, LIFE_HURRYING},
    {LIFE_LEAVING, LIFE_STOP, LIFE_DO_HURRY, LIFE_HURRYING},
    {LIFE_HURRYING, LIFE_STOP, LIFE_DO_HURRY, LIFE_HURRYING},
    {LIFE_LEAVING, LIFE_LEFT, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_HURRYING, LIFE_LEFT, LIFE_DO_KILL, LIFE_KILLING},

    /* the supervisor ends: served sessions commit, others do not start */
    {LIFE_NEW_WANTING, LIFE_SHUTDOWN, LIFE_DO_DECIDE, LIFE_NEW_REAPED},
    {LIFE_NEW_LOADING, LIFE_SHUTDOWN, LIFE_DO_KILL, LIFE_NEW_KILLING},
    {LIFE_NEW_READY, LIFE_SHUTDOWN, LIFE_DO_KILL, LIFE_NEW_KILLING},
    {LIFE_NEW_ENDED, LIFE_SHUTDOWN, LIFE_DO_KILL_DEAD, LIFE_NEW_REAPED},
    {LIFE_WANTING, LIFE_SHUTDOWN, LIFE_DO_DECIDE, LIFE_REAPED},
    {LIFE_LOADING, LIFE_SHUTDOWN, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_SERVING, LIFE_SHUTDOWN, LIFE_DO_STOP, LIFE_HURRYING},
    {LIFE_LEAVING, LIFE_SHUTDOWN, LIFE_DO_HURRY, LIFE_HURRYING},
    {LIFE_HURRYING, LIFE_SHUTDOWN, LIFE_DO_HURRY, LIFE_HURRYING},

    /* deadlines: calls under way extend that of a pause, not that of a stop */
    {LIFE_NEW_WANTING, LIFE_TIMEOUT, LIFE_DO_DECIDE, LIFE_NEW_REAPED},
    {LIFE_NEW_LOADING, LIFE_TIMEOUT, LIFE_DO_KILL, LIFE_NEW_KILLING},
    {LIFE_NEW_READY, LIFE_TIMEOUT, LIFE_DO_KILL, LIFE_NEW_KILLING},
    {LIFE_NEW_ENDED, LIFE_TIMEOUT, LIFE_DO_KILL_DEAD, LIFE_NEW_REAPED},
    {LIFE_WANTING, LIFE_TIMEOUT, LIFE_DO_DECIDE, LIFE_REAPED},
    {LIFE_LOADING, LIFE_TIMEOUT, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_LEAVING, LIFE_TIMEOUT, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_HURRYING, LIFE_TIMEOUT, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_LEAVING, LIFE_BUSY, LIFE_DO_EXTEND, LIFE_LEAVING},
    {LIFE_HURRYING, LIFE_BUSY, LIFE_DO_KILL, LIFE_KILLING},

    /* a kill ends every phase; a second one may only end the session */
    {LIFE_NEW_WANTING, LIFE_KILL, LIFE_DO_DECIDE, LIFE_NEW_REAPED},
    {LIFE_NEW_LOADING, LIFE_KILL, LIFE_DO_KILL, LIFE_NEW_KILLING},
    {LIFE_NEW_READY, LIFE_KILL, LIFE_DO_KILL, LIFE_NEW_KILLING},
    {LIFE_NEW_ENDED, LIFE_KILL, LIFE_DO_KILL_DEAD, LIFE_NEW_REAPED},
    {LIFE_NEW_KILLING, LIFE_KILL, LIFE_DO_OVERRIDE, LIFE_NEW_KILLING},
    {LIFE_NEW_REAPED, LIFE_KILL, LIFE_DO_OVERRIDE, LIFE_NEW_REAPED},
    {LIFE_WANTING, LIFE_KILL, LIFE_DO_DECIDE, LIFE_REAPED},
    {LIFE_LOADING, LIFE_KILL, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_SERVING, LIFE_KILL, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_LEAVING, LIFE_KILL, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_HURRYING, LIFE_KILL, LIFE_DO_KILL, LIFE_KILLING},
    {LIFE_KILLING, LIFE_KILL, LIFE_DO_OVERRIDE, LIFE_KILLING},
    {LIFE_REAPED, LIFE_KILL, LIFE_DO_OVERRIDE, LIFE_REAPED},

    /* the worker dies: its phase says what becomes of the session */
    {LIFE_NEW_LOADING, LIFE_ENDED, LIFE_DO_REAP_START, LIFE_NEW_REAPED},
    {LIFE_NEW_READY, LIFE_ENDED, LIFE_NOTE, LIFE_NEW_ENDED},
    {LIFE_NEW_KILLING, LIFE_ENDED, LIFE_DO_REAP_DONE, LIFE_NEW_REAPED},
    {LIFE_LOADING, LIFE_ENDED, LIFE_DO_REAP_START, LIFE_REAPED},
    {LIFE_SERVING, LIFE_ENDED, LIFE_DO_REAP, LIFE_REAPED},
    {LIFE_LEAVING, LIFE_ENDED, LIFE_DO_REAP_LEAVE, LIFE_REAPED},
    {LIFE_HURRYING, LIFE_ENDED, LIFE_DO_REAP_LEAVE, LIFE_REAPED},
    {LIFE_KILLING, LIFE_ENDED, LIFE_DO_REAP_DONE, LIFE_REAPED},

    /* and the store is done with its commits */
    {LIFE_REAPED, LIFE_STORED, LIFE_DO_FINISH, LIFE_OVER},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static const struct row *
find(enum life_phase phase, enum life_event event)
{
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].phase == phase && rows[i].event == event)
            return &rows[i];
    return NULL;
}

TEST(every_event_in_every_phase_of_a_life_has_its_step)
{
    for (int p = 0; p < N_LIFE_PHASES; p++) {
        for (int e = 0; e < N_LIFE_EVENTS; e++) {
            const struct row *r = find((enum life_phase)p, (enum life_event)e);
            struct life_step s =
                life_step((enum life_phase)p, (enum life_event)e);
            CHECK_EQ(s.action, r ? r->action : LIFE_IGNORE);
            CHECK_EQ(s.next, r ? r->next : (enum life_phase)p);
        }
    }
}

/* Phases that a life can be in after any events, from `phase` on. */
static void
reach(enum life_phase phase, bool *seen)
{
    if (seen[phase])
        return;
    seen[phase] = true;
    for (int e = 0; e < N_LIFE_EVENTS; e++)
        reach(life_step(phase, (enum life_event)e).next, seen);
}

TEST(a_new_life_can_reach_every_phase)
{
    bool seen[N_LIFE_PHASES] = {false};

    reach(LIFE_NEW_WANTING, seen);
    for (int p = 0; p < N_LIFE_PHASES; p++)
        CHECK(seen[p]);
}

TEST(a_life_ends_from_every_phase)
{
    for (int p = 0; p < N_LIFE_PHASES; p++) {
        bool seen[N_LIFE_PHASES] = {false};
        reach((enum life_phase)p, seen);
        CHECK(seen[LIFE_OVER]);
    }
}

TEST(a_life_without_a_row_is_not_over)
{
    for (int p = LIFE_NEW_WANTING; p <= LIFE_NEW_REAPED; p++)
        for (int e = 0; e < N_LIFE_EVENTS; e++)
            CHECK(life_step((enum life_phase)p, (enum life_event)e).next !=
                  LIFE_OVER);
}
