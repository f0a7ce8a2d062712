/* System call filters, from tables. */
#ifndef SEAL_SECCOMP_H
#define SEAL_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first matching rule decides. A rule matches its call. With a mask, it
 * matches only if the low half of the masked argument equals `value`, or with
 * `is_any` if it is not 0. */
struct seccomp_rule {
    int nr;
    uint32_t answer; /* SECCOMP_RET_... */
    unsigned arg;
    uint32_t mask, value;
    bool is_any;
};

/* A filter: rules in order, and the answer to all other calls. */
struct seccomp_policy {
    const struct seccomp_rule *rules;
    size_t n;
    uint32_t otherwise;
};

#define SECCOMP_FAIL(err) (SECCOMP_RET_ERRNO | (err))

/* Loads the filter for all threads of the process. System calls of another kind
 * (i386, x32) kill the process or fail. Returns 0 or -errno; needs
 * no_new_privs. */
int seccomp_load(const struct seccomp_policy *policy);

#endif
