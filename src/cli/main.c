/* wasm-sandbox: the command line. The first argument chooses the command;
 * without one, the program is the server. */
#include "cli/cli.h"

#include "base/hfd.h"
#include "seal/seal.h"
#include "wasmsand.h"
#include "wire/log.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FREE_BYTES_KEPT = 64 << 20, MAPPED_BYTES = 8 << 20 };

static int cmd_compile(int argc, char **argv);
static int cmd_compilers(int argc, char **argv);

/* The commands. `fsck` is also available as `session fsck`. */
static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* NULL: not for users */
} commands[] = {
    {"exec", cmd_exec, "run one program in a fresh sandbox"},
    {"shell", cmd_shell, "run bash in a fresh sandbox"},
    {"freeze", cmd_freeze, "write a program that starts initialised"},
    {"precompile", cmd_precompile,
     "write the compiled code of a root image's programs"},
    {"limit", cmd_supervisor, "run a native program in a jail with limits"},
    {"serve", cmd_supervisor, "keep durable sessions in jailed processes"},
    {"session", cmd_session, "create, use and end such sessions"},
    {"fsck", cmd_supervisor, "check the store of sessions"},
    {"mcp", cmd_mcp, "serve the tools of a sandbox to agents, by MCP"},
    {"worker", cmd_worker, NULL},
    {"compile", cmd_compile, NULL},
    {"compilers", cmd_compilers, NULL},
};

/* Control characters are replaced, because a message may contain file names. */
void
complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_log(format, args);
    va_end(args);
}

/* The command that the library starts to compile a guest's program, in a
 * process of its own. */
static int
cmd_compile(int argc, char **argv)
{
    (void)argv;
    if (argc == 1)
        wsand_compiler_main();
    complain("compile: takes no arguments");
    return EXIT_USAGE;
}

/* Like cmd_compile, for a worker, which cannot start processes. */
static int
cmd_compilers(int argc, char **argv)
{
    (void)argv;
    if (argc == 1)
        wsand_compilers_main(seal_compiler);
    complain("compilers: takes no arguments");
    return EXIT_USAGE;
}

/* Commands without a summary are started by other programs of ours, not by
 * users. */
void
print_help(void)
{
    printf("usage: wasm-sandbox [OPTION]...\n"
           "       wasm-sandbox COMMAND [OPTION]... [ARG]...\n"
           "Runs untrusted programs in a sandbox. Without a command, serves "
           "sandboxes\n"
           "over JSON lines on standard input and output "
           "(docs/rpc.md).\n\n%s\n",
           serve_options_help);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].summary)
            printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    printf("\nCOMMAND --help prints the options of a command.\n");
}

/* A first word that is neither a command nor an option is a mistake, for
 * example in the name of a command. */
static int
main_run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(word, commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    if (*word && *word != '-') {
        complain("unknown command '%s'; see wasm-sandbox --help", word);
        return EXIT_USAGE;
    }
    return cmd_serve(argc, argv);
}

/* Output that could not be written is an error, even if everything else
 * succeeded. */
int
main(int argc, char **argv)
{
    if (!hfd_fill_standard())
        return EXIT_USAGE;
    /* Keep up to 64 MiB of freed memory: deleted file contents are soon
     * reused, and returning them to the kernel costs more than rewriting
     * them. */
    (void)mallopt(M_TRIM_THRESHOLD, FREE_BYTES_KEPT);
    /* One arena for all threads: malloc_trim returns the free end of the first
     * one only (rpc/tidy.h), and each other arena would keep as much again.
     * Most allocations come from the caches of the threads, without a lock. */
    (void)mallopt(M_ARENA_MAX, 1);
    /* Requests and files of a few MiB are not mapped anew each time, which
     * would fault all of their pages. */
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    int status = main_run(argc, argv);

    if (fflush(stdout) == 0 || status != 0)
        return status;
    complain("standard output: %s", strerror(errno));
    return EXIT_FAILURE;
}
