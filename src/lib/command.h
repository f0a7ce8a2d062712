/* One command of the resident shell, of the user or of the library itself. */
#ifndef LIB_COMMAND_H
#define LIB_COMMAND_H

#include "base/buf.h"
#include "lib/shell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A command and its limits. Everything is borrowed until command_run
 * returns. */
struct command {
    const char *text;
    size_t len;
    struct streams_options io;
    /* Receives output on 1 and 2; may be NULL. */
    void (*on_output)(void *arg, int stream, const void *data, size_t len);
    /* Returns the number of bytes that on_output accepts now. At 0, writers
     * wait until wsand_run_resume. NULL accepts any number. */
    size_t (*window)(void *arg);
    void *on_output_arg; /* of both */
    int64_t deadline_ns; /* of the host's monotonic clock, or NS_NEVER */
    bool is_ours;        /* not affected by signals and wsand_cancel */
    /* Belongs to the previous command: if it is killed, the state before that
     * one is restored. */
    bool continues;
};

/* The result of a command. Its output is in the streams of the shell. */
struct command_outcome {
    int status;
    bool timed_out, cancelled;
};

/* Runs a command to its end. If this succeeds, command_close must follow. */
int command_run(struct shell *sh, const struct command *c,
                struct command_outcome *ret);
/* Output written after this counts as background output. */
static inline void
command_close(struct shell *sh)
{
    streams_close(&sh->streams, sh->background);
}

/* --- commands of the library itself: requests to the shell, as a function that
 * leaves neither itself nor another $? behind, and whose commands no alias,
 * function or trap of the user can change */

/* Makes the shell run `body`. The reply is the output after a first NUL, freed
 * with free(), or NULL if there is none. -ETIMEDOUT, -E2BIG. */
int shell_ask(struct shell *sh, const struct buf *body, bool continues,
              OWN char **ret, size_t *ret_len);
/* Like shell_ask, but restores the state of the shell afterwards. `top`
 * contains commands that run before, outside of any function. */
int shell_query(struct shell *sh, const char *top, const struct buf *body,
                OWN char **ret, size_t *ret_len);
/* Returns r of shell_ask, with its message. */
int shell_ask_error(struct wsand_error *err, int r);
/* Initializes an empty body. */
void command_body_init(struct buf *b);
/* Appends a string in quotes. */
void command_quote(struct buf *b, const char *s);
/* True if `len` bytes can be the name of a variable. */
bool command_is_variable_name(const char *s, size_t len);

#endif
