/* A terminal of the sandbox that is connected to one of the host.
 *
 * Used by wsand_exec only. The functions are called on the thread that runs the
 * sandbox. */
#ifndef LIB_TERMINAL_H
#define LIB_TERMINAL_H

#include "base/own.h"

struct kernel;
struct tty;
struct file;
struct terminal;
/* Opens the host's terminal `hfd` again and puts it into raw mode. -errno. */
int terminal_new(struct kernel *k, int hfd, OWN struct terminal **ret);
/* Writes the remaining output and restores the host's terminal. */
void terminal_free(OWN struct terminal *term);
/* Returns the terminal of the sandbox, which `term` owns. */
struct tty *terminal_tty(struct terminal *term);
/* Opens the terminal by its name, so that programs find it too. */
int terminal_open_tty(struct kernel *k, const struct tty *tty,
                      OWN struct file **ret);
/* Passes the current size of the host's terminal on. */
void terminal_resize(struct terminal *term);
/* Called between time slices: moves available bytes. */
void terminal_pump(struct terminal *term);

#endif
