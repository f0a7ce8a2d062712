/* System call filters, from tables.
 *
 * A filter is a linear program of classic BPF. It first rejects calls of
 * another architecture, whose numbers mean other calls, and then compares the
 * number with each rule in order. Common calls come first in the tables, and
 * the kernel caches calls that are always allowed. */
#include "seal/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH       AUDIT_ARCH_X86_64
#define FOREIGN_NR 0x40000000 /* x32 */
#elif defined(__aarch64__)
#define ARCH       AUDIT_ARCH_AARCH64
#define FOREIGN_NR 0x40000000
#endif
/* Steps before the rules and after them, and for one rule. */
enum { STEPS_AROUND = 7, STEPS_PER_RULE = 6 };

/* A program under construction; seccomp_load has allocated enough for all
 * rules. */
struct filter {
    struct sock_filter *v;
    unsigned short n;
};

static void
seccomp_add(struct filter *f, struct sock_filter step)
{
    f->v[f->n++] = step;
}

static void
seccomp_add_load(struct filter *f, size_t offset)
{
    seccomp_add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                (uint32_t)offset));
}

static void
seccomp_add_answer(struct filter *f, uint32_t answer)
{
    seccomp_add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

static void
seccomp_add_jump(struct filter *f, unsigned test, uint32_t k, uint8_t yes,
                 uint8_t no)
{
    seccomp_add(f, (struct sock_filter)BPF_JUMP(
                       (unsigned short)(BPF_JMP | test | BPF_K), k, yes, no));
}

/* Appends one rule. On entry and exit, the accumulator holds the number of the
 * call. A rule with a condition loads an argument, and must therefore load the
 * number again if it does not match. */
static void
seccomp_add_rule(struct filter *f, const struct seccomp_rule *r)
{
    if (!r->mask) {
        seccomp_add_jump(f, BPF_JEQ, (uint32_t)r->nr, 0, 1);
        seccomp_add_answer(f, r->answer);
        return;
    }
    seccomp_add_jump(f, BPF_JEQ, (uint32_t)r->nr, 0, 5);
    seccomp_add_load(f, offsetof(struct seccomp_data, args) +
                            r->arg * sizeof(uint64_t)); /* little-endian */
    seccomp_add(
        f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r->mask));
    if (r->is_any)
        seccomp_add_jump(f, BPF_JEQ, 0, 1, 0);
    else
        seccomp_add_jump(f, BPF_JEQ, r->value, 0, 1);
    seccomp_add_answer(f, r->answer);
    seccomp_add_load(f, offsetof(struct seccomp_data, nr));
}

/* TSYNC applies the filter to all threads. A positive result is a thread that
 * could not be synchronised. */
static int
seccomp_install(struct filter *f)
{
    struct sock_fprog program = {f->n, f->v};
    long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                     SECCOMP_FILTER_FLAG_TSYNC, &program);

    return r == 0 ? 0 : r < 0 ? -errno : -ESRCH;
}

/* The architecture is checked first, because the same number means another call
 * in the table of another architecture. */
int
seccomp_load(const struct seccomp_policy *policy)
{
    size_t steps = STEPS_AROUND + policy->n * STEPS_PER_RULE;
    struct filter f = {.v = calloc(steps, sizeof *f.v)};

    if (!f.v)
        return -ENOMEM;
    seccomp_add_load(&f, offsetof(struct seccomp_data, arch));
    seccomp_add_jump(&f, BPF_JEQ, ARCH, 1, 0);
    seccomp_add_answer(&f, SECCOMP_RET_KILL_PROCESS);
    seccomp_add_load(&f, offsetof(struct seccomp_data, nr));
    seccomp_add_jump(&f, BPF_JGE, FOREIGN_NR, 0, 1);
    seccomp_add_answer(&f, SECCOMP_FAIL(ENOSYS));
    for (size_t i = 0; i < policy->n; i++)
        seccomp_add_rule(&f, &policy->rules[i]);
    seccomp_add_answer(&f, policy->otherwise);
    int r = seccomp_install(&f);
    free(f.v);
    return r;
}
