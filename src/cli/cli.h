/* Sub-commands of wasm-sandbox. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/exit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROOT_PATH_BYTES = 2048 };

/* argv[0] is the name of the sub-command. */
int cmd_exec(int argc, char **argv);
int cmd_shell(int argc, char **argv);
int cmd_freeze(int argc, char **argv);
int cmd_worker(int argc, char **argv);
int cmd_precompile(int argc, char **argv);
/* Sessions of a supervisor that serves. */
int cmd_session(int argc, char **argv);
/* What the supervisor does; argv[-1] is the program. */
int cmd_supervisor(int argc, char **argv);
/* Without a sub-command: the server; argv[0] is the program. */
int cmd_serve(int argc, char **argv);
void print_help(void);
/* The text of its options, for --help. */
extern const char serve_options_help[];

/* A file that was built or installed with this program. */
bool find_beside(const char *name, char *buf, size_t size);
/* The root image: what WASMSAND_ROOT names, share/wasmsand/root.tar beside
 * this program, or where it is installed. False: there is none. */
bool find_root(char *buf, size_t size);
/* The compiled code of its programs, share/wasmsand/code, likewise; or NULL. */
const char *find_code(void);
/* A positive number, times `scale`. False: what was wrong was said. */
bool parse_number(const char *name, const char *s, uint64_t scale,
                  uint64_t *ret);

/* "wasm-sandbox: ..." on stderr, with a newline. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
