/* The host's side of the measurements: what a program inside cannot see. */
#ifndef HOST_H
#define HOST_H

#include "../bench.h"
#include "lib/sandbox.h"

/* A runtime and a sandbox with one program in it, as /bin/program. Ends the
 * process if there is none to be had. */
struct host {
    struct wsand_runtime runtime; /* without a root image */
    struct wsand_sandbox *sandbox;
};
void host_init(struct host *h, const char *program, bool is_unpreemptive);
void host_fini(struct host *h);
/* Runs it with the arguments after argv[0] and our descriptors: the exit
 * status, or 128 and the signal. */
int host_run(struct host *h, const char *const *argv, uint64_t timeout_ms);

/* The value in the middle; sorts v. */
double median(double *v, size_t n);

/* The subcommands. */
int run(int argc, char **argv);
int start(int argc, char **argv);
int interrupt(int argc, char **argv);
int kills(int argc, char **argv);
int clone_tree(int argc, char **argv);
int command(int argc, char **argv);
int load(int argc, char **argv);

#endif
