/* Sub-commands of wasm-sandbox. Exit status 2: the command line is wrong;
 * 126 and 127, as in a shell: the program cannot be run, is not there. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

enum {
    EXIT_USAGE = 2,
    EXIT_TIMEOUT = 124,
    EXIT_CANNOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
};

/* argv[0] is the name of the sub-command. */
int cmd_exec(int argc, char **argv);
int cmd_shell(int argc, char **argv);
int cmd_freeze(int argc, char **argv);

/* "wasm-sandbox: ..." on stderr, with a newline. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
