/* Tests of the library through its public header. Tests that need a shell are
 * in shell/, and get the root image that $WASMSAND_ROOT names. */
#ifndef LIB_TEST_H
#define LIB_TEST_H

#include "test.h"

#include <wasmsand.h>

struct lib {
    struct wsand_runtime *rt;
    struct wsand_sandbox *sb;
};

/* Creates a runtime with one sandbox, or ends the program if that is
 * impossible. */
void lib_new(struct lib *l, const struct wsand_options *o);
void lib_free(struct lib *l);

/* Declares and creates `l`; the arguments are members of struct
 * wsand_options. */
#define LIB_SANDBOX(l, ...)                                                   \
    struct lib l;                                                             \
    lib_new(&l, &(struct wsand_options){.size = sizeof(struct wsand_options), \
                                        __VA_ARGS__})

void lib_check_str(const char *file, int line, const char *got,
                   const char *want);
#define CHECK_STR(got, want) lib_check_str(__FILE__, __LINE__, got, want)

#endif
