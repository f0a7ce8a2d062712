/* The state machine of a session's life: one table, phase and event to action
 * and next phase. The table is data without side effects; life.c performs the
 * actions.
 *
 *   wanting ─▸ loading ─▸ serving ─▸ leaving ─▸ killing ─▸ reaped ─▸ over
 *                                       └─▸ hurrying ─┘
 *
 * A new session is served only when the store has its row, which takes as long
 * as the start of a worker; both happen at the same time. The phases NEW_* are
 * those of a session whose row is still on its way. */
#ifndef SUPERVISOR_LIFE_TABLE_H
#define SUPERVISOR_LIFE_TABLE_H

enum life_phase {
    LIFE_NEW_WANTING, /* waits for a worker */
    LIFE_NEW_LOADING, /* the worker is given the session's state */
    LIFE_NEW_READY,   /* the worker has the state */
    LIFE_NEW_ENDED,   /* the worker had the state, and ended */
    LIFE_NEW_KILLING, /* the worker was killed, and is not reaped yet */
    LIFE_NEW_REAPED,  /* there is no worker any more */
    LIFE_WANTING,     /* these three as above */
    LIFE_LOADING,
    LIFE_SERVING,
    LIFE_LEAVING,  /* the worker commits for the last time */
    LIFE_HURRYING, /* likewise, and its runs were cancelled */
    LIFE_KILLING,
    LIFE_REAPED, /* jobs of the store may still be under way */
    LIFE_OVER,   /* the object is being freed */
    N_LIFE_PHASES
};

enum life_event {
    LIFE_ROW,        /* the store has the session */
    LIFE_ROW_FAILED, /* the store cannot have it */
    LIFE_WORKER,     /* the pool provided a worker */
    LIFE_READY,      /* the worker has its state */
    LIFE_PAUSE,      /* end after a last commit; runs go on to their end */
    LIFE_STOP,       /* end after a last commit; runs are cancelled */
    LIFE_SHUTDOWN,   /* the supervisor ends */
    LIFE_LEFT,       /* the store has the last commit */
    LIFE_TIMEOUT,    /* the deadline of the phase has passed */
    LIFE_BUSY,       /* likewise, while calls are under way */
    LIFE_KILL,       /* end without a last commit */
    LIFE_ENDED,      /* the worker is dead */
    LIFE_STORED,     /* no job of the store is under way */
    N_LIFE_EVENTS
};

enum life_action {
    LIFE_IGNORE,        /* the event means nothing in this phase */
    LIFE_NOTE,          /* nothing beyond the new phase */
    LIFE_DO_LOAD,       /* send the session's state to the worker */
    LIFE_DO_SERVE,      /* answer the calls that wait for the session */
    LIFE_DO_SERVE_DEAD, /* likewise, then handle the end of the worker */
    LIFE_DO_LEAVE,      /* have the worker commit for the last time */
    LIFE_DO_STOP,       /* likewise, and cancel its runs */
    LIFE_DO_HURRY,      /* cancel the runs of a worker that leaves */
    LIFE_DO_EXTEND,     /* give the worker more time */
    LIFE_DO_DECIDE,     /* set the outcome; there is no worker to kill */
    LIFE_DO_KILL,       /* set the outcome and kill the worker */
    LIFE_DO_KILL_DEAD,  /* set the outcome and reap the worker, which is dead */
    LIFE_DO_OVERRIDE,   /* the outcome `ended` replaces any other */
    LIFE_DO_REAP_START, /* reap; the outcome is that of a failed start */
    LIFE_DO_REAP,       /* reap; the outcome follows from the cause of death */
    LIFE_DO_REAP_LEAVE, /* reap; the session enters the state it was to enter */
    LIFE_DO_REAP_DONE,  /* reap; the outcome is already decided */
    LIFE_DO_FINISH,     /* enter the outcome and free the life */
};

/* One cell of the table. */
struct life_step {
    enum life_action action;
    enum life_phase next;
};

/* The row of the table; LIFE_IGNORE keeps the phase. */
struct life_step life_step(enum life_phase phase, enum life_event event);

#endif
