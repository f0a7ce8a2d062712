/* Tests of the library through its public header. Those that need a shell are
 * in shell/, and get the root image that $WASMSAND_ROOT names. */
#ifndef LIB_TEST_H
#define LIB_TEST_H

#include "test.h"

#include <wasmsand.h>

struct lib {
    struct wsand_runtime *rt;
    struct wsand_sandbox *sb;
};

/* A sandbox of its own runtime; ends the program where it cannot be made. */
void lib_new(struct lib *l, const struct wsand_options *o);
void lib_free(struct lib *l);

#define LIB_SANDBOX(l, ...)                                                   \
    struct lib l;                                                             \
    lib_new(&l, &(struct wsand_options){.size = sizeof(struct wsand_options), \
                                        __VA_ARGS__})

void lib_check_str(const char *file, int line, const char *got,
                   const char *want);
#define CHECK_STR(got, want) lib_check_str(__FILE__, __LINE__, got, want)

#endif
