/* Figures in the text format of Prometheus. */
#ifndef SUPERVISOR_METRICS_H
#define SUPERVISOR_METRICS_H

#include <stdint.h>

struct buf;

/* Durations: the number of those up to each limit. */
enum { HISTOGRAM_BUCKETS = 16 };
struct histogram {
    uint64_t bucket[HISTOGRAM_BUCKETS + 1]; /* the last one: all longer ones */
    uint64_t sum_us;
};
/* Counts one duration. */
void metrics_add(struct histogram *h, int64_t ns);

/* Writes the lines that begin a family; its name is without `wasmsand_`. */
void metrics_family(struct buf *b, const char *name, const char *type,
                    const char *help);
/* Writes one line; labels as `a="b",c="d"` or NULL. */
void metrics_value(struct buf *b, const char *name, const char *labels,
                   uint64_t value);
/* Writes the lines of a histogram, in seconds; its family must be begun. */
void metrics_histogram(struct buf *b, const char *name,
                       const struct histogram *h);

#endif
