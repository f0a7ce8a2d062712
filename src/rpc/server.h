/* wasm-sandbox on stdin and stdout: the command line's part of it. */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* For a server that serves one session of the supervisor: see worker.h. */
struct worker_options {
    int state_hfd;                  /* records, both ways */
    const uint8_t *root_image_hash; /* of 32 bytes; NULL: not known */
    /* Once the runtime is up: 0, or -errno and what failed. NULL: none */
    int (*seal)(const char **ret_where);
    bool keeps_compiler;     /* for programs of guests */
    bool shipped_is_checked; /* the owners of shipped_dir were checked */
};

/* The options of the server; 0 and NULL mean the default. */
struct server_options {
    const char *root_image;
    const char *shipped_dir;  /* compiled code that came with it, or NULL */
    const char *const *tools; /* folders of programs, NULL-terminated */
    const char *const *allow_mount; /* host folders, NULL-terminated */
    const char *config; /* a file with the parameters of `create`, as JSON */
    uint64_t memory_bytes, timeout_ms, fs_bytes;
    uint64_t grace_ms; /* for what runs at the end of input [1000] */
    enum log_level log_level;
    const struct worker_options *worker; /* NULL: it is none */
};

/* Serves from in_hfd to out_hfd until the end of input, `kill` or a signal.
 * Returns the exit status, with a message on stderr if it is not 0. 1: one of
 * them cannot be read or written, or a sandbox does not end. 2: the server
 * cannot start. */
int server_main(const struct server_options *o, int in_hfd, int out_hfd);

#endif
