/* libmicrohttpd, loaded only if HTTP is enabled: everything else works without
 * it, and starts faster. */
#ifndef SUPERVISOR_MHD_H
#define SUPERVISOR_MHD_H

#include <microhttpd.h>

#define MHD_FUNCTIONS(X)             \
    X(start_daemon)                  \
    X(stop_daemon)                   \
    X(run)                           \
    X(get_timeout)                   \
    X(get_daemon_info)               \
    X(get_connection_info)           \
    X(suspend_connection)            \
    X(resume_connection)             \
    X(lookup_connection_value)       \
    X(get_connection_values)         \
    X(create_response_from_buffer)   \
    X(create_response_from_callback) \
    X(add_response_header)           \
    X(queue_response)                \
    X(destroy_response)

struct mhd {
    void *library;
#define X(name) __typeof__(MHD_##name) *name;
    MHD_FUNCTIONS(X)
#undef X
};

/* -ENOENT: it is not installed. -ENOSYS: it is another version. */
int mhd_load(struct mhd *m);

#endif
