/* Figures in the text format of Prometheus. */
#ifndef SUPERVISOR_METRICS_H
#define SUPERVISOR_METRICS_H

#include <stdint.h>

struct buf;

/* Durations: how many took at most so long. */
enum { HISTOGRAM_BUCKETS = 16 };
struct histogram {
    uint64_t bucket[HISTOGRAM_BUCKETS + 1]; /* the last: all that took longer */
    uint64_t sum_us;
};
void histogram_add(struct histogram *h, int64_t ns);

/* The lines that begin a family; its name is without `wasmsand_`. */
void metrics_family(struct buf *b, const char *name, const char *type,
                    const char *help);
/* One line; labels as `a="b",c="d"` or NULL. */
void metrics_value(struct buf *b, const char *name, const char *labels,
                   uint64_t value);
void metrics_histogram(struct buf *b, const char *name,
                       const struct histogram *h);

#endif
