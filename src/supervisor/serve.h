/* The command `wasm-sandbox serve`: start, loop and end of the supervisor. */
#ifndef SUPERVISOR_SERVE_H
#define SUPERVISOR_SERVE_H

/* Runs the supervisor until a signal ends it. `words` are the arguments after
 * `serve`, NULL-terminated. Returns the exit status: 0 after an orderly end, 2
 * for a wrong configuration, 125 if it could not start. */
int serve_main(char *const *words);

#endif
