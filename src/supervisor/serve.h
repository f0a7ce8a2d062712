/* `wasm-sandbox serve`: the supervisor's life. */
#ifndef SUPERVISOR_SERVE_H
#define SUPERVISOR_SERVE_H

/* `words`: what followed `serve`. The exit status. */
int serve_main(char *const *words);

#endif
