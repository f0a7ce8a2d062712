/* What to run in a fresh sandbox, and how: the options that sub-commands
 * share. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "wasmsand.h"

#include <stdbool.h>

enum { LIST_MAX = 32, NAME_MAX_BYTES = 255, PATH_MAX_BYTES = 1024 };

struct user_env;

struct request {
    const char *root;            /* root image, or NULL */
    const struct user_env *user; /* that programs run as */
    struct wsand_options sandbox;
    struct wsand_exec exec;
    struct wsand_mount mounts[LIST_MAX];
    struct wsand_mount_limit mount_limits[LIST_MAX];
    struct wsand_program *programs; /* owned, with their paths */
    const char *env[2 * LIST_MAX + 8];
    size_t n_env;
    bool has_no_pwd; /* is not given PWD */
    bool is_shell;
    char term[64];
};

void request_init(struct request *q);
void request_fini(struct request *q);
/* The home folder of the user that programs run as. */
const char *request_home(const struct request *q);
/* Takes the options at the start of argv; *ret_rest is the index of the first
 * other word. -1: go on; else the exit status, and what was wrong was said.
 * `help` is printed for --help. With `stop_at_unknown`, an unknown option is
 * the first of the other words. */
int request_parse(struct request *q, int argc, char **argv, const char *help,
                  bool stop_at_unknown, int *ret_rest);
/* Puts a program of the host into the sandbox; the paths are copied. False:
 * what was wrong was said. */
bool request_add_program(struct request *q, const char *host_path,
                         const char *guest_path, bool is_checked);
/* The same for all that end in .wasm in a folder, as commands (tools.c). */
bool request_add_tools(struct request *q, const char *dir);
/* Commands from standard input for a resident shell (resident.c). */
int resident_session(struct request *q);
/* The exit status of the program, or our own. `name` is for messages. */
int request_run(struct request *q, const char *name);

#endif
