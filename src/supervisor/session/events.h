/* Events: changes of sessions' states, as clients read them. */
#ifndef SUPERVISOR_EVENTS_H
#define SUPERVISOR_EVENTS_H

struct client;
struct supervisor;

/* The store has a new one: whoever waits may have it. */
void events_happened(struct supervisor *sv);
/* Nobody waits any more. */
void events_end_waits(struct supervisor *sv);
void events_forget_client(struct supervisor *sv, const struct client *c);

#endif
