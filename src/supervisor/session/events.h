/* Events: changes of sessions' states, for clients. The store keeps them;
 * session.events reads them and can wait for new ones (long polling). */
#ifndef SUPERVISOR_EVENTS_H
#define SUPERVISOR_EVENTS_H

struct client;
struct supervisor;

/* Called when the store has a new event: waiting calls read again. */
void events_happened(struct supervisor *sv);
/* Ends all waits. */
void events_end_waits(struct supervisor *sv);
/* Ends the waits of a client that is gone. */
void events_forget_client(struct supervisor *sv, const struct client *c);

#endif
