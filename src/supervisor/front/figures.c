/* The figures of the supervisor, for /metrics. All counters belong to the event
 * loop, which also answers requests, so no lock is needed. Names of families
 * are part of the interface: dashboards refer to them. */
#include "supervisor/front/figures.h"

#include "base/buf.h"
#include "base/hfd.h"
#include "base/own.h"
#include "supervisor/common/file.h"
#include "supervisor/config/config.h"
#include "supervisor/session/methods.h"
#include "supervisor/session/supervisor.h"
#include "supervisor/workers/worker.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LABELS_BYTES = 128 };

/* Ended sessions are not in memory, and are counted as events. */
static void
figures_put_sessions(const struct supervisor *sv, struct buf *b)
{
    char labels[LABELS_BYTES];

    metrics_family(b, "sessions", "gauge", "Sessions that have not ended.");
    for (int i = 0; i < N_SESSION_STATES; i++) {
        (void)snprintf(labels, sizeof labels, "state=\"%s\"",
                       session_state_names[i]);
        if (i != SESSION_ended)
            metrics_value(b, "sessions", labels, sv->sessions.n_in_state[i]);
    }
}

/* Only the main pool keeps workers ready; those of older images are started
 * when a session needs one. */
static void
figures_put_workers(const struct supervisor *sv, struct buf *b)
{
    metrics_family(b, "workers", "gauge", "Worker processes.");
    metrics_value(b, "workers", "use=\"session\"", sv->n_workers);
    metrics_value(b, "workers", "use=\"ready\"", pool_ready(sv->pool));
    metrics_value(b, "workers", "use=\"starting\"", pool_starting(sv->pool));
}

/* Combinations that never occurred are omitted: there are more than a
 * hundred. */
static void
figures_put_events(const struct supervisor *sv, struct buf *b)
{
    char labels[LABELS_BYTES];

    metrics_family(b, "events_total", "counter",
                   "Changes of sessions' states, by state and cause.");
    for (int i = 0; i < N_SESSION_STATES * N_CAUSES; i++) {
        int state = i / N_CAUSES, cause = i % N_CAUSES;
        uint64_t n = sv->counters.entered[state][cause];
        (void)snprintf(labels, sizeof labels, "state=\"%s\",cause=\"%s\"",
                       session_state_names[state], cause_names[cause]);
        if (n)
            metrics_value(b, "events_total", labels, n);
    }
}

/* Methods that were never called are omitted. */
static void
figures_put_requests(const struct supervisor *sv, struct buf *b)
{
    static const char *const outcomes[] = {"ok", "error"};
    char labels[LABELS_BYTES];

    metrics_family(b, "requests_total", "counter",
                   "Requests that were answered, by method and outcome.");
    for (int i = 0; i < METHODS_MAX * 2; i++) {
        uint64_t n = sv->counters.answered[i / 2][i % 2];
        if (!n)
            continue;
        (void)snprintf(labels, sizeof labels, "method=\"%s\",outcome=\"%s\"",
                       method_name((size_t)i / 2), outcomes[i % 2]);
        metrics_value(b, "requests_total", labels, n);
    }
    metrics_family(b, "routed_seconds", "histogram",
                   "Time until a request to a worker is answered.");
    metrics_histogram(b, "routed_seconds", &sv->counters.answer);
    metrics_family(b, "session_start_seconds", "histogram",
                   "Time until a starting session is active.");
    metrics_histogram(b, "session_start_seconds", &sv->counters.start);
    metrics_family(b, "clients", "gauge", "Connections and HTTP requests.");
    metrics_value(b, "clients", NULL, sv->n_clients);
}

/* Bytes are counted when a connection closes. */
static void
figures_put_network(const struct supervisor *sv, struct buf *b)
{
    const struct counters *c = &sv->counters;

    metrics_family(b, "network_brokers_total", "counter",
                   "Broker processes that were started.");
    metrics_value(b, "network_brokers_total", NULL, c->network.brokers);
    metrics_family(b, "network_connections_total", "counter",
                   "Connections of sessions to hosts outside.");
    metrics_value(b, "network_connections_total", NULL, c->network.opened);
    metrics_family(b, "network_denied_total", "counter",
                   "Connections and lookups that a policy or a limit denied.");
    metrics_value(b, "network_denied_total", NULL, c->network.denied);
    metrics_family(b, "network_bytes_total", "counter",
                   "Bytes of connections that were closed.");
    metrics_value(b, "network_bytes_total", "direction=\"sent\"",
                  c->network.sent);
    metrics_value(b, "network_bytes_total", "direction=\"received\"",
                  c->network.received);
}

/* Returns the space on the disk, not the length of the files. Sub-folders do
 * not count: root images are not part of the store. */
static uint64_t
figures_folder_bytes(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    struct stat st;
    uint64_t n = 0;

    while (dir && (e = readdir(dir)))
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode))
            n += (uint64_t)st.st_blocks * 512;
    if (dir)
        (void)closedir(dir);
    return n;
}

/* Commits are counted when the store has them, not when they are sent. */
static void
figures_put_store(const struct supervisor *sv, struct buf *b)
{
    metrics_family(b, "commit_seconds", "histogram",
                   "Time until a commit of a worker is in the store.");
    metrics_histogram(b, "commit_seconds", &sv->counters.commit);
    metrics_family(b, "commit_bytes_total", "counter",
                   "Records that the store has received.");
    metrics_value(b, "commit_bytes_total", NULL, sv->counters.commit_bytes);
    metrics_family(b, "store_bytes", "gauge", "The store on the disk.");
    metrics_value(b, "store_bytes", NULL,
                  figures_folder_bytes(sv->config->store_dir));
}

static void
figures_put_previews(const struct supervisor *sv, struct buf *b)
{
    if (!sv->preview_port)
        return;
    metrics_family(b, "preview_connections", "gauge",
                   "Connections to previews.");
    metrics_value(b, "preview_connections", NULL, sv->previews.connections);
    metrics_family(b, "preview_requests_total", "counter",
                   "Requests to previews since the start.");
    metrics_value(b, "preview_requests_total", "result=\"passed\"",
                  sv->previews.passed);
    metrics_value(b, "preview_requests_total", "result=\"refused\"",
                  sv->previews.refused);
}

/* The second number of statm is the resident size in pages. */
static void
figures_put_process(const struct supervisor *sv, struct buf *b)
{
    char text[128];
    unsigned long pages = 0;

    if (file_read_text(AT_FDCWD, "/proc/self/statm", text, sizeof text) < 0 ||
        sscanf(text, "%*u %lu", &pages) != 1)
        pages = 0;
    metrics_family(b, "resident_bytes", "gauge",
                   "Memory of the supervisor itself.");
    metrics_value(b, "resident_bytes", NULL,
                  (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE));
    metrics_family(b, "start_time_seconds", "gauge",
                   "Start time of the supervisor, since 1970.");
    metrics_value(b, "start_time_seconds", NULL,
                  (uint64_t)sv->started_ms / 1000);
}

/* Called for each request, so everything here must be cheap. */
void
figures_put(const struct supervisor *sv, struct buf *b)
{
    figures_put_sessions(sv, b);
    figures_put_workers(sv, b);
    figures_put_events(sv, b);
    figures_put_requests(sv, b);
    figures_put_store(sv, b);
    figures_put_network(sv, b);
    figures_put_previews(sv, b);
    figures_put_process(sv, b);
}
