/* The interactive client of sessions: `wasm-sandbox session`. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/link.h"
#include "supervisor/config/limits.h"

#include <stdbool.h>
#include <stdio.h>

enum { CLI_FAILED = 125, CLI_USAGE = 2 };
enum { SESSION_ID_BYTES = 33 }; /* 32 hexadecimal digits and NUL */

/* The values of an option that may be repeated; they point into argv. */
struct cli_rules {
    const char *v[64];
    size_t n;
};

/* One call of the command: its options and its connection. */
struct cli {
    struct link link;
    const char *command; /* the argument after `session` */
    bool is_json;
    /* Options of all commands; each command uses some of them. */
    const char *agent, *label, *state, *durability, *cwd, *socket, *user,
        *image;
    int64_t timeout_ms, after;
    int64_t limit[N_LIMITS]; /* -1: not given */
    char **env;              /* NAME=VALUE */
    size_t n_env;
    bool ended, follow, no_auto_resume, network, no_wait, reads_stdin,
        wants_help;
    struct cli_rules net, allow, deny; /* of the network policy */
    /* The arguments that are not options; they point into argv. */
    char **words; /* other arguments; NULL-terminated */
};

/* Parses options and arguments from argv, which is changed. False: an error was
 * reported. */
bool cli_parse(struct cli *c, int argc, char **argv);
/* Adds a variable for the command, or replaces it. */
bool cli_set_env(struct cli *c, const char *name, const char *value);
/* The parameters of a request: an object that is still open, with sessionId
 * unless `id` is NULL. */
struct buf cli_params(const char *id);
/* Appends the variables as the member `env`, if there are any. */
void cli_put_env(const struct cli *c, struct buf *params);
/* Appends a member unless the text is NULL. */
void cli_put_option(struct buf *params, const char *name, const char *text);
/* Sends a request and waits for its answer. Returns the result, which is in
 * *ret; NULL: the error was reported. */
const struct json *cli_call(struct cli *c, const char *method,
                            struct buf *params, struct json_doc *ret);
/* Returns the result in an answer; NULL: the error was reported. */
const struct json *cli_result(struct cli *c, const struct json *answer);
/* The text of a member, or "". */
const char *cli_member(const struct json *object, const char *name);
/* Finds a session by the beginning of its id, or by its label, if it is unique.
 * False: an error was reported. */
bool cli_find(struct cli *c, const char *name, char ret_id[SESSION_ID_BYTES]);
/* Prints "wasm-sandbox: session COMMAND: ..." to standard error. */
void cli_complain(const struct cli *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the bytes of an output notification; freed with free(). */
char *cli_output(const struct json *params, size_t *ret_len);

/* --- session_print.c */

/* Writes one character, or `?` for one that could control a terminal (in UTF-8,
 * C1 are c2 80 to c2 9f). Returns where the next one is. */
const char *cli_put_plain(const char *text, FILE *to);
/* Prints untrusted text without control characters, padded to `width`
 * characters, with at least one space. 0: no padding. */
void cli_print(const char *text, int width);
/* Appends a value as JSON that is indented from `level` on. */
void cli_put_indented(struct buf *b, const struct json *v, int level);
/* Prints a value, indented, and a newline. */
void cli_print_json(const struct json *value);
/* Prints a session as a row of a list; `arg` is not used. */
void cli_print_row(void *arg, const struct json *s);
/* Prints all that is known of a session. Returns the exit status; NULL: the
 * error was reported. */
int cli_print_session(const struct cli *c, const struct json *session);

/* --- session_net.c */

/* Appends the policy of --net as the member `network`, if there is one. */
void cli_put_network(const struct cli *c, struct buf *params);

/* --- session_run.c, session_shell.c, session_net.c */

/* Commands. Each returns the exit status, after an error was reported. */
int cli_run(struct cli *c, const char *id);
int cli_shell(struct cli *c, const char *id);
int cli_files(struct cli *c);
int cli_events(struct cli *c);
int cli_show_output(struct cli *c, const char *id);
int cli_net(struct cli *c, const char *id);

#endif
