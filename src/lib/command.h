/* One command of the resident shell, the user's or one of our own. */
#ifndef LIB_COMMAND_H
#define LIB_COMMAND_H

#include "base/buf.h"
#include "lib/shell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command {
    const char *text;
    size_t len;
    const void *input;
    size_t input_len;
    size_t out_max, err_max;
    bool keep_ends; /* of output past the limits, also the end */
    bool merge;     /* standard error goes where standard output goes */
    /* Told of what is written to 1 and 2; NULL: nobody. */
    void (*on_output)(void *arg, int stream, const void *data, size_t len);
    /* How many bytes on_output takes now; 0: writers wait until
     * wsand_run_resume. NULL: any number. */
    size_t (*window)(void *arg);
    void *on_output_arg; /* of both */
    int64_t deadline_ns; /* of the host's monotonic clock, or NS_NEVER */
    bool is_ours;        /* signals and wsand_cancel are not for it */
    /* It belongs to the command before: when it is killed, the state before
     * that one comes back. */
    bool continues;
};

struct outcome {
    int status;
    bool timed_out, cancelled;
    struct capture *out, *err;
};

/* Runs it to its end. The outcome must be finished. */
int command_run(struct shell *sh, const struct command *c, struct outcome *ret);
/* What is written to its outputs from now on is background output. */
void outcome_fini(struct outcome *o, struct shell *sh);

/* --- our own: what the host asks the shell to do, as a function that leaves
 * neither itself nor another $? behind, and whose commands no alias, function
 * or trap of the user changes. */

/* Asks the shell to run `body`; the reply is what it printed after a first
 * NUL, freed with free(); NULL: it printed none. -ETIMEDOUT, -E2BIG. */
int shell_ask(struct shell *sh, const struct buf *body, bool continues,
              OWN char **ret, size_t *ret_len);
/* The same for what changes nothing: the shell has its state back, whatever it
 * did. `top` are commands that are run before, outside of any function. */
int shell_query(struct shell *sh, const char *top, const struct buf *body,
                OWN char **ret, size_t *ret_len);
/* r of shell_ask, with its message. */
int shell_ask_error(struct wsand_error *err, int r);
/* An empty body. */
void body_init(struct buf *b);
/* Adds a string in quotes. */
void buf_quote(struct buf *b, const char *s);
/* Can it be the name of a variable? `len` bytes of it. */
bool is_variable_name(const char *s, size_t len);

#endif
