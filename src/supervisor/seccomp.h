/* System call filters, from tables. */
#ifndef SUPERVISOR_SECCOMP_H
#define SUPERVISOR_SECCOMP_H

#include <stddef.h>
#include <stdint.h>

/* The first rule that matches decides. A rule matches its call; with a mask,
 * only if the low half of the argument, masked, is `value`, or is not 0 where
 * `value` is 0. */
struct seccomp_rule {
    int nr;
    uint32_t answer; /* SECCOMP_RET_... */
    unsigned arg;
    uint32_t mask, value;
};

struct seccomp_policy {
    const struct seccomp_rule *rules;
    size_t n;
    uint32_t otherwise;
};

/* For native commands: everything but what has no business in a jail. */
extern const struct seccomp_policy seccomp_native;
/* Where nothing else counts memory without a process: none of it. */
extern const struct seccomp_policy seccomp_no_hidden_memory;

/* 0 or -errno; needs no_new_privs. */
int seccomp_load(const struct seccomp_policy *policy);

#endif
