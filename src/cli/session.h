/* The interactive client of sessions: `wasm-sandbox session`. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/link.h"

#include <stdbool.h>

enum { CLI_FAILED = 125, CLI_USAGE = 2 };
enum { SESSION_ID_BYTES = 33 }; /* 32 hexadecimal digits and NUL */

struct cli {
    struct link link;
    const char *command; /* the argument after `session` */
    bool is_json;
    /* options; NULL or 0 if not given */
    const char *agent, *label, *state, *durability, *cwd, *socket, *user;
    json_int_t timeout_ms, after;
    json_t *limits, *env;
    bool ended, follow, no_auto_resume, network, no_wait, reads_stdin,
        wants_help;
    char **words; /* other arguments; NULL-terminated */
};

/* Parses options and arguments from argv, which is changed. False: an error was
 * reported. */
bool cli_parse(struct cli *c, int argc, char **argv);
/* Returns the result, which the caller frees, or NULL after an error was
 * reported. */
OWN json_t *cli_call(struct cli *c, const char *method, OWN json_t *params);
/* Like cli_call, for an answer, or for NULL: the supervisor closed the
 * connection. */
OWN json_t *cli_result(struct cli *c, OWN json_t *answer);
/* Finds a session by the beginning of its id, or by its label, if it is unique.
 * False: an error was reported. */
bool cli_find(struct cli *c, const char *name, char ret_id[SESSION_ID_BYTES]);
void cli_complain(const struct cli *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints untrusted text without control characters, padded to `width`
 * characters, with at least one space. 0: no padding. */
void cli_print(const char *text, int width);
/* Returns the bytes of an output notification; freed with free(). */
char *cli_output(const json_t *params, size_t *ret_len);

int cli_run(struct cli *c, const char *id);
int cli_shell(struct cli *c, const char *id);
int cli_files(struct cli *c);
int cli_events(struct cli *c);
int cli_show_output(struct cli *c, const char *id);

#endif
