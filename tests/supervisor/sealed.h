/* The test worker: attacks from inside a sealed process.
 *
 * Each attack tries something that the seal must prevent. An attack that works
 * prints a line, and the test that started the worker fails. */
#ifndef SEALED_H
#define SEALED_H

#include <stdbool.h>

/* Prints a line on descriptor 1. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the outcome of a call that must fail. Returns true if it has
 * succeeded. */
bool worked(const char *what, long r);
/* Like worked, for a call that the system call filter must refuse. */
bool passed(const char *what, long r);

/* The process was sealed as a worker with a compiler. */
extern bool is_compiling;

struct attack {
    const char *name;
    /* Returns true if the attack has worked. */
    bool (*run)(const char *arg);
};
extern const struct attack attacks[], code_attacks[], call_attacks[];

#endif
