/* Events: changes of sessions' states, for clients. */
#ifndef SUPERVISOR_EVENTS_H
#define SUPERVISOR_EVENTS_H

struct client;
struct supervisor;

/* The store has a new event: waiting calls may be answered. */
void events_happened(struct supervisor *sv);
/* Ends all waits. */
void events_end_waits(struct supervisor *sv);
void events_forget_client(struct supervisor *sv, const struct client *c);

#endif
