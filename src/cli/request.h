/* A request to run something in a fresh sandbox: the options that sub-commands
 * share. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "wasmsand.h"

#include <stdbool.h>

enum { LIST_MAX = 32, NAME_MAX_BYTES = 255, PATH_MAX_BYTES = 1024 };

struct user_env;

/* The parsed options. Must not be moved: its members point to each other. */
struct exec_request {
    /* Options that are not members of the public structures. */
    const char *root;            /* root image, or NULL */
    const char *images;          /* of --images, or NULL */
    const char *resolvers;       /* name servers, or NULL: the host's */
    const struct user_env *user; /* the user of programs */
    struct wsand_options sandbox;
    struct wsand_exec exec;
    /* Space for the lists that `sandbox` and `exec` point to. */
    struct wsand_mount mounts[LIST_MAX];
    struct wsand_mount_limit mount_limits[LIST_MAX];
    struct wsand_program *programs; /* owned, with their paths */
    const char *env[2 * LIST_MAX + 8];
    size_t n_env;
    const char **net; /* rules of the network, owned, NULL-terminated */
    size_t n_net;
    bool has_no_pwd; /* PWD is not set */
    bool is_shell;   /* the command is `shell` */
    char term[64];   /* TERM=..., which `env` refers to */
};

/* Initialise with the defaults, and free. */
void request_init(struct exec_request *q);
void request_fini(struct exec_request *q);
/* Returns the home folder of the user of programs. */
const char *request_home(const struct exec_request *q);
/* Parses the options at the start of argv; *ret_rest is the index of the first
 * other argument. Returns -1 to continue, otherwise the exit status, after an
 * error was reported. `help` is printed for --help. With `stop_at_unknown`, an
 * unknown option is the first of the other arguments. */
int request_parse(struct exec_request *q, int argc, char **argv,
                  const char *help, bool stop_at_unknown, int *ret_rest);
/* Adds a program of the host to the sandbox; the paths are copied. False: the
 * error was reported. */
bool request_add_program(struct exec_request *q, const char *host_path,
                         const char *guest_path, bool is_checked);
/* Adds all *.wasm files of a folder, as commands (tools.c). */
bool tools_add(struct exec_request *q, const char *dir);
/* Returns the exit status of the program, or our own. `name` is for messages.
 */
int request_run(struct exec_request *q, const char *name);

#endif
