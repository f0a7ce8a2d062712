/* The table of life_table.h. A cell that is missing is LIFE_IGNORE.
 *
 * The rows NEW_* differ from their counterparts in one way: the row of the
 * session is not in the store yet. LIFE_ROW moves to the counterpart, and the
 * life can only finish after that, because the last change of state needs a
 * row.
 *
 * Two rules hold in all rows, and the unit tests check every cell. A worker is
 * never forgotten: every phase with a worker leads to LIFE_REAPED over
 * LIFE_ENDED. LIFE_KILL works in every phase but the last, because a client may
 * end a session at any time. */
#include "supervisor/session/life_table.h"

static const struct life_step steps[N_LIFE_PHASES][N_LIFE_EVENTS] =
    {
        [LIFE_NEW_WANTING] =
            {
                [LIFE_ROW] = {LIFE_NOTE, LIFE_WANTING},
                [LIFE_ROW_FAILED] = {LIFE_DO_DECIDE, LIFE_REAPED},
                [LIFE_WORKER] = {LIFE_DO_LOAD, LIFE_NEW_LOADING},
                [LIFE_SHUTDOWN] = {LIFE_DO_DECIDE, LIFE_NEW_REAPED},
                [LIFE_TIMEOUT] = {LIFE_DO_DECIDE, LIFE_NEW_REAPED},
                [LIFE_KILL] = {LIFE_DO_DECIDE, LIFE_NEW_REAPED},
            },
        [LIFE_NEW_LOADING] =
            {
                [LIFE_ROW] = {LIFE_NOTE, LIFE_LOADING},
                [LIFE_ROW_FAILED] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_READY] = {LIFE_NOTE, LIFE_NEW_READY},
                [LIFE_SHUTDOWN] = {LIFE_DO_KILL, LIFE_NEW_KILLING},
                [LIFE_TIMEOUT] = {LIFE_DO_KILL, LIFE_NEW_KILLING},
                [LIFE_KILL] = {LIFE_DO_KILL, LIFE_NEW_KILLING},
                [LIFE_ENDED] = {LIFE_DO_REAP_START, LIFE_NEW_REAPED},
            },
        [LIFE_NEW_READY] =
            {
                [LIFE_ROW] = {LIFE_DO_SERVE, LIFE_SERVING},
                [LIFE_ROW_FAILED] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_SHUTDOWN] = {LIFE_DO_KILL, LIFE_NEW_KILLING},
                [LIFE_TIMEOUT] = {LIFE_DO_KILL, LIFE_NEW_KILLING},
                [LIFE_KILL] = {LIFE_DO_KILL, LIFE_NEW_KILLING},
                [LIFE_ENDED] = {LIFE_NOTE, LIFE_NEW_ENDED},
            },
        [LIFE_NEW_ENDED] =
            {
                [LIFE_ROW] = {LIFE_DO_SERVE_DEAD, LIFE_SERVING},
                [LIFE_ROW_FAILED] = {LIFE_DO_KILL_DEAD, LIFE_REAPED},
                [LIFE_SHUTDOWN] = {LIFE_DO_KILL_DEAD, LIFE_NEW_REAPED},
                [LIFE_TIMEOUT] = {LIFE_DO_KILL_DEAD, LIFE_NEW_REAPED},
                [LIFE_KILL] = {LIFE_DO_KILL_DEAD, LIFE_NEW_REAPED},
            },
        [LIFE_NEW_KILLING] =
            {
                [LIFE_ROW] = {LIFE_NOTE, LIFE_KILLING},
                [LIFE_ROW_FAILED] = {LIFE_DO_DECIDE, LIFE_KILLING},
                [LIFE_KILL] = {LIFE_DO_OVERRIDE, LIFE_NEW_KILLING},
                [LIFE_ENDED] = {LIFE_DO_REAP_DONE, LIFE_NEW_REAPED},
            },
        [LIFE_NEW_REAPED] =
            {
                [LIFE_ROW] = {LIFE_NOTE, LIFE_REAPED},
                [LIFE_ROW_FAILED] = {LIFE_DO_DECIDE, LIFE_REAPED},
                [LIFE_KILL] = {LIFE_DO_OVERRIDE, LIFE_NEW_REAPED},
            },
        [LIFE_WANTING] =
            {
                [LIFE_WORKER] = {LIFE_DO_LOAD, LIFE_LOADING},
                [LIFE_SHUTDOWN] = {LIFE_DO_DECIDE, LIFE_REAPED},
                [LIFE_TIMEOUT] = {LIFE_DO_DECIDE, LIFE_REAPED},
                [LIFE_KILL] = {LIFE_DO_DECIDE, LIFE_REAPED},
            },
        [LIFE_LOADING] =
            {
                [LIFE_READY] = {LIFE_DO_SERVE, LIFE_SERVING},
                [LIFE_SHUTDOWN] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_TIMEOUT] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_KILL] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_ENDED] = {LIFE_DO_REAP_START, LIFE_REAPED},
            },
        [LIFE_SERVING] =
            {
                [LIFE_PAUSE] = {LIFE_DO_LEAVE, LIFE_LEAVING},
                [LIFE_STOP] = {LIFE_DO_STOP, LIFE_HURRYING},
                [LIFE_SHUTDOWN] = {LIFE_DO_STOP, LIFE_HURRYING},
                [LIFE_KILL] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_ENDED] = {LIFE_DO_REAP, LIFE_REAPED},
            },
        [LIFE_LEAVING] =
            {
                [LIFE_STOP] = {LIFE_DO_HURRY, LIFE_HURRYING},
                [LIFE_SHUTDOWN] = {LIFE_DO_HURRY, LIFE_HURRYING},
                [LIFE_LEFT] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_TIMEOUT] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_BUSY] = {LIFE_DO_EXTEND, LIFE_LEAVING},
                [LIFE_KILL] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_ENDED] = {LIFE_DO_REAP_LEAVE, LIFE_REAPED},
            },
        [LIFE_HURRYING] =
            {
                [LIFE_STOP] = {LIFE_DO_HURRY, LIFE_HURRYING},
                [LIFE_SHUTDOWN] = {LIFE_DO_HURRY, LIFE_HURRYING},
                [LIFE_LEFT] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_TIMEOUT] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_BUSY] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_KILL] = {LIFE_DO_KILL, LIFE_KILLING},
                [LIFE_ENDED] = {LIFE_DO_REAP_LEAVE, LIFE_REAPED},
            },
        [LIFE_KILLING] =
            {
                [LIFE_KILL] = {LIFE_DO_OVERRIDE, LIFE_KILLING},
                [LIFE_ENDED] = {LIFE_DO_REAP_DONE, LIFE_REAPED},
            },
        [LIFE_REAPED] =
            {
                [LIFE_KILL] = {LIFE_DO_OVERRIDE, LIFE_REAPED},
                [LIFE_STORED] = {LIFE_DO_FINISH, LIFE_OVER},
            },
};

struct life_step
life_step(enum life_phase phase, enum life_event event)
{
    struct life_step s = steps[phase][event];

    if (s.action == LIFE_IGNORE)
        s.next = phase;
    return s;
}
