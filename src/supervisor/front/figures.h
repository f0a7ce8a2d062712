/* The figures of the supervisor, for /metrics. */
#ifndef SUPERVISOR_FIGURES_H
#define SUPERVISOR_FIGURES_H

struct buf;
struct supervisor;

/* Appends all families in the text format of Prometheus. */
void figures_put(const struct supervisor *sv, struct buf *b);

#endif
