/* Figures for Prometheus. */
#include "supervisor/metrics.h"

#include "base/buf.h"
#include "supervisor/file.h"
#include "supervisor/http.h"
#include "supervisor/supervisor.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LABELS_BYTES = 128, FIRST_US = 50 };

/* --- the format */

void
metrics_family(struct buf *b, const char *name, const char *type,
               const char *help)
{
    buf_printf(b, "# HELP wasmsand_%s %s\n", name, help);
    buf_printf(b, "# TYPE wasmsand_%s %s\n", name, type);
}

void
metrics_value(struct buf *b, const char *name, const char *labels,
              uint64_t value)
{
    buf_printf(b,
               labels ? "wasmsand_%s{%s} %" PRIu64 "\n"
                      : "wasmsand_%s%.0s %" PRIu64 "\n",
               name, labels ? labels : "", value);
}

/* Each bucket goes twice as far as the one before it. */
static uint64_t
bucket_us(int i)
{
    return (uint64_t)FIRST_US << i;
}

void
histogram_add(struct histogram *h, int64_t us)
{
    int i = 0;

    while (i < HISTOGRAM_BUCKETS && us > (int64_t)bucket_us(i))
        i++;
    h->bucket[i]++;
    h->sum_us += us > 0 ? (uint64_t)us : 0;
}

void
metrics_histogram(struct buf *b, const char *name, const struct histogram *h)
{
    uint64_t n = 0;

    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        n += h->bucket[i];
        buf_printf(b, "wasmsand_%s_bucket{le=\"%.6f\"} %" PRIu64 "\n", name,
                   (double)bucket_us(i) / 1e6, n);
    }
    n += h->bucket[HISTOGRAM_BUCKETS];
    buf_printf(b, "wasmsand_%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, n);
    buf_printf(b, "wasmsand_%s_sum %.6f\n", name, (double)h->sum_us / 1e6);
    buf_printf(b, "wasmsand_%s_count %" PRIu64 "\n", name, n);
}

/* --- the families */

static const char *const states[] = {
#define STATE(name) #name,
#include "supervisor/states.def"
#undef STATE
};
static const char *const causes[] = {
#define CAUSE(name, text, what) text,
#include "supervisor/causes.def"
#undef CAUSE
};

static void
put_sessions(const struct supervisor *sv, struct buf *b)
{
    char labels[LABELS_BYTES];

    metrics_family(b, "sessions", "gauge",
                   "Sessions by state; those that ended, since the start.");
    for (int i = 0; i < N_SESSION_STATES; i++) {
        (void)snprintf(labels, sizeof labels, "state=\"%s\"", states[i]);
        metrics_value(b, "sessions", labels, sv->sessions.n_in_state[i]);
    }
}

static void
put_events(const struct supervisor *sv, struct buf *b)
{
    char labels[LABELS_BYTES];

    metrics_family(b, "events_total", "counter",
                   "Changes of sessions' states, by state and cause.");
    for (int i = 0; i < N_SESSION_STATES * N_CAUSES; i++) {
        int state = i / N_CAUSES, cause = i % N_CAUSES;
        uint64_t n = sv->counters.entered[state][cause];
        (void)snprintf(labels, sizeof labels, "state=\"%s\",cause=\"%s\"",
                       states[state], causes[cause]);
        if (n)
            metrics_value(b, "events_total", labels, n);
    }
}

static void
put_process(struct buf *b)
{
    char text[128];
    unsigned long pages = 0;

    if (file_read(AT_FDCWD, "/proc/self/statm", text, sizeof text) == 0 &&
        sscanf(text, "%*u %lu", &pages) != 1)
        pages = 0;
    metrics_family(b, "resident_bytes", "gauge",
                   "Memory of the supervisor itself.");
    metrics_value(b, "resident_bytes", NULL,
                  (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

void
metrics_put(const struct supervisor *sv, const struct http *h, struct buf *b)
{
    put_sessions(sv, b);
    put_events(sv, b);
    put_process(b);
    if (h)
        http_put_metrics(h, b);
}
