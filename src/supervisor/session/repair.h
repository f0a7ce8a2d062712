/* Sessions whose state is damaged: the store repairs it, and each loss is an
 * event. */
#ifndef SUPERVISOR_REPAIR_H
#define SUPERVISOR_REPAIR_H

struct life;
struct store;
struct supervisor;

/* The state could not be read to its end: has the store repair it, and loads it
 * again. Not 0: it was repaired before, or nobody waits for it, or there is no
 * memory. */
int repair_begin(struct life *l);
/* The worker has answered the request that was broken off. */
void repair_broken_off(struct life *l);
/* Logs the damage that the store found when it was opened, with an event for
 * each session concerned. */
int repair_report(struct supervisor *sv, struct store *store);

#endif
