/* `wasm-sandbox session`: sessions for people. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/link.h"

#include <stdbool.h>

enum { CLI_FAILED = 125, CLI_USAGE = 2 };
enum { SESSION_ID_BYTES = 33 }; /* 32 hexadecimal digits and NUL */

struct cli {
    struct link link;
    const char *command; /* the word after `session` */
    bool is_json;
    /* options, NULL or 0 if they were not given */
    const char *agent, *label, *state, *durability, *cwd, *socket, *user;
    json_int_t timeout_ms, after;
    json_t *limits, *env;
    bool ended, follow, no_auto_resume, network, no_wait, reads_stdin,
        wants_help;
    char **words; /* what is not an option; ends with NULL */
};

/* Takes options and words from argv, which is changed. False: it was told. */
bool cli_parse(struct cli *c, int argc, char **argv);
/* The result, which the caller frees; NULL: the error was told. */
OWN json_t *cli_call(struct cli *c, const char *method, OWN json_t *params);
/* The same of an answer, or of NULL: the supervisor closed the connection. */
OWN json_t *cli_result(struct cli *c, OWN json_t *answer);
/* From a beginning of an id, or a label, that only one session has. False: it
 * was told. */
bool cli_find(struct cli *c, const char *name, char ret_id[SESSION_ID_BYTES]);
void cli_complain(const struct cli *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Text of strangers, without what could control the terminal; filled up to
 * `width` characters, and at least one more than it has. 0: as it is. */
void cli_print(const char *text, int width);
/* The bytes of an output notification; freed with free(). */
char *cli_output(const json_t *params, size_t *ret_len);

int cli_run(struct cli *c, const char *id);
int cli_shell(struct cli *c, const char *id);
int cli_files(struct cli *c);
int cli_events(struct cli *c);
int cli_show_output(struct cli *c, const char *id);

#endif
