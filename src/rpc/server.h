/* wasm-sandbox on stdin and stdout: the command line's part of it. */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsand_image;

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* For a server that serves one session of the supervisor: see worker.h. */
struct worker_options {
    int state_hfd;                  /* records, both ways */
    int network_hfd;                /* of the broker; 0: there is none */
    const uint8_t *root_image_hash; /* of 32 bytes; NULL: not known */
    /* Once the runtime is up: 0, or -errno and what failed. NULL: none */
    int (*seal)(const char **ret_where);
    bool keeps_compiler;     /* for programs of guests */
    bool shipped_is_checked; /* the owners of shipped_dir were checked */
};

/* The options of the server; 0 and NULL mean the default. */
struct server_options {
    const char *root_image;
    const struct wsand_image *images; /* further root images */
    size_t n_images;
    const char *image;        /* of sandboxes that name none; NULL: default */
    const char *shipped_dir;  /* compiled code that came with it, or NULL */
    const char *broker;       /* of networks; NULL: there are none */
    const char *resolvers;    /* name servers; NULL: the host's */
    const char *const *tools; /* folders of programs, NULL-terminated */
    const char *const *allow_mount; /* host folders, NULL-terminated */
    const char *config; /* a file with the parameters of `create`, as JSON */
    uint64_t memory_bytes, timeout_ms, fs_bytes;
    uint64_t grace_ms; /* for what runs at the end of input [1000] */
    enum log_level log_level;
    const struct worker_options *worker; /* NULL: it is none */
    /* Executable that compiles programs; NULL: this one. */
    const char *compiler;
    /* For a server inside a program of somebody else: receives the output, on
     * any thread and one call at a time, instead of out_hfd. Must not wait.
     * Signals and the end of the process are left to that program. */
    void (*deliver)(void *arg, const char *bytes, size_t len);
    void *deliver_arg;
};

/* Serves from in_hfd to out_hfd until the end of input, `kill` or a signal.
 * Returns the exit status, with a message on stderr if it is not 0. 1: one of
 * them cannot be read or written, or a sandbox does not end. 2: the server
 * cannot start. */
int server_main(const struct server_options *o, int in_hfd, int out_hfd);

#endif
