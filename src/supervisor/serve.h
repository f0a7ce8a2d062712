/* The command `wasm-sandbox serve`: start, loop and end of the supervisor. */
#ifndef SUPERVISOR_SERVE_H
#define SUPERVISOR_SERVE_H

/* `words` are the arguments after `serve`. Returns the exit status. */
int serve_main(char *const *words);

#endif
