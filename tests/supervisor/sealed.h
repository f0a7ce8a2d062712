/* The test worker: attacks from inside a sealed process. */
#ifndef SEALED_H
#define SEALED_H

#include <stdbool.h>

/* Says it on descriptor 1. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says what became of a call that must have failed; true: it has not. */
bool worked(const char *what, long r);
/* The same, if it must have been refused by the filter. */
bool passed(const char *what, long r);

extern bool is_compiling; /* it was sealed as a worker with a compiler */

struct attack {
    const char *name;
    bool (*run)(const char *arg); /* true: it has worked */
};
extern const struct attack attacks[], code_attacks[], call_attacks[];

#endif
