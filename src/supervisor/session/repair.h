/* Repairs sessions with a damaged state; each loss is an event. The store
 * decides about the repairs (store/check_damage.c). */
#ifndef SUPERVISOR_REPAIR_H
#define SUPERVISOR_REPAIR_H

struct life;
struct store;
struct supervisor;

/* Called if the state could not be read to its end: lets the store repair it,
 * and loads it again. Not 0: it was repaired before, or no call waits for it,
 * or there is no memory. */
int repair_begin(struct life *l);
/* Called when the worker has answered the request that was cancelled. */
void repair_broken_off(struct life *l);
/* Logs the damage that the store found when it was opened, with an event for
 * each affected session. */
int repair_report(struct supervisor *sv, struct store *store);

#endif
