/* Sub-commands of wasm-sandbox.
 *
 * Each cmd_* function is the main function of one sub-command and returns the
 * exit status: that of the program it ran, or one of base/exit.h. Errors are
 * reported on standard error, in one line that begins with the name of the
 * program and ends with the remedy, if there is one. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/exit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsand_image;

enum { ROOT_PATH_BYTES = 2048 };

/* argv[0] is the name of the sub-command. */
int cmd_exec(int argc, char **argv);
int cmd_shell(int argc, char **argv);
int cmd_freeze(int argc, char **argv);
int cmd_worker(int argc, char **argv);
/* MCP on standard input and output. */
int cmd_mcp(int argc, char **argv);
int cmd_precompile(int argc, char **argv);
/* Sessions of a running supervisor. */
int cmd_session(int argc, char **argv);
/* Commands of the supervisor; argv[-1] is the program. */
int cmd_supervisor(int argc, char **argv);
/* Without a sub-command: the server; argv[0] is the program. */
int cmd_serve(int argc, char **argv);
void print_help(void);
/* The text of its options, for --help. */
extern const char serve_options_help[];

/* Finds a file that was built or installed with this program. */
bool beside_find(const char *name, char *buf, size_t size);
/* Finds the root image: WASMSAND_ROOT, share/wasmsand/root.tar beside this
 * program, or its installation folder. False: there is none. */
bool beside_find_root(char *buf, size_t size);
/* Finds the root images that have names: those of the text `listed`
 * (NAME=PATH,...), or of WASMSAND_IMAGES if it is NULL, and then those in
 * share/wasmsand/images. The result stays until the end of the process. False:
 * the error was reported. */
bool beside_find_images(const char *listed, const struct wsand_image **ret,
                        size_t *ret_n);
/* Returns the compiled code of the programs of all images, share/wasmsand/code,
 * found in the same way; or NULL. */
const char *beside_find_code(void);
/* Returns the broker of networks, libexec/wasmsand-netd, or NULL. */
const char *beside_find_broker(void);
/* Parses a positive number, times `scale`. False: the error was reported. */
bool request_parse_number(const char *name, const char *s, uint64_t scale,
                          uint64_t *ret);

/* Prints "wasm-sandbox: ..." to stderr, with a newline. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
