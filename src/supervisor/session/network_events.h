/* Events of a session's network, from the reports of its broker: net.open,
 * net.close, net.deny. */
#ifndef SUPERVISOR_NETWORK_EVENTS_H
#define SUPERVISOR_NETWORK_EVENTS_H

struct buf;
struct life;
struct message_report;
struct session;

/* Takes a report that is well-formed. */
void network_events_take(struct life *l, const struct message_report *r);
/* The broker is gone, and all connections with it. */
void network_events_lose(struct life *l);
/* Write JSON arrays: the open connections, and the hosts that were denied. */
void network_events_put_connections(const struct life *l, struct buf *b);
void network_events_put_denied(const struct session *s, struct buf *b);

#endif
