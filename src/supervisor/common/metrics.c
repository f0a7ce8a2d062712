/* The text format of Prometheus. */
#include "supervisor/common/metrics.h"

#include "base/buf.h"

#include <inttypes.h>
#include <stdio.h>

enum { FIRST_US = 50 };

/* --- the format */

void
metrics_family(struct buf *b, const char *name, const char *type,
               const char *help)
{
    buf_printf(b, "# HELP wasmsand_%s %s\n", name, help);
    buf_printf(b, "# TYPE wasmsand_%s %s\n", name, type);
}

/* %.0s consumes the argument of the labels without printing it. */
void
metrics_value(struct buf *b, const char *name, const char *labels,
              uint64_t value)
{
    buf_printf(b,
               labels ? "wasmsand_%s{%s} %" PRIu64 "\n"
                      : "wasmsand_%s%.0s %" PRIu64 "\n",
               name, labels ? labels : "", value);
}

/* Each bucket reaches twice as far as the one before it. */
static uint64_t
metrics_bucket_us(int i)
{
    return (uint64_t)FIRST_US << i;
}

void
metrics_add(struct histogram *h, int64_t ns)
{
    uint64_t us = ns > 0 ? (uint64_t)ns / 1000 : 0;
    int i = 0;

    while (i < HISTOGRAM_BUCKETS && us > metrics_bucket_us(i))
        i++;
    h->bucket[i]++;
    h->sum_us += us;
}

void
metrics_histogram(struct buf *b, const char *name, const struct histogram *h)
{
    uint64_t n = 0;

    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        n += h->bucket[i];
        buf_printf(b, "wasmsand_%s_bucket{le=\"%.6f\"} %" PRIu64 "\n", name,
                   (double)metrics_bucket_us(i) / 1e6, n);
    }
    n += h->bucket[HISTOGRAM_BUCKETS];
    buf_printf(b, "wasmsand_%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, n);
    buf_printf(b, "wasmsand_%s_sum %.6f\n", name, (double)h->sum_us / 1e6);
    buf_printf(b, "wasmsand_%s_count %" PRIu64 "\n", name, n);
}
