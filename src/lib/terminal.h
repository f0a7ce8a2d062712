/* A terminal of the sandbox that is connected to one of the host. */
#ifndef LIB_TERMINAL_H
#define LIB_TERMINAL_H

#include "base/own.h"

struct kernel;
struct tty;
struct file;
struct terminal;
/* Puts the host's terminal into raw mode. */
int terminal_new(struct kernel *k, int hfd, OWN struct terminal **ret);
/* Shows what is left of the output and puts the host's terminal back. */
void terminal_free(OWN struct terminal *term);
struct tty *terminal_tty(struct terminal *term);
/* By its name, so that the programs find it too. */
int terminal_open_tty(struct kernel *k, const struct tty *tty,
                      OWN struct file **ret);
void terminal_resize(struct terminal *term);
/* Between the turns of the programs: moves bytes, if there are any. */
void terminal_turn(struct terminal *term);

#endif
