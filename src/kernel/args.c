/* Program arguments and environment, and the block in which a program receives
 * them: argc, argv, envp and auxv, in the layout of Linux at process entry. */
#include "kernel/kernel.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARGS_BYTES_MAX = 2 << 20, /* with 4 bytes for each pointer */
    ARG_BYTES_MAX = 128 << 10,
    AUXV_WORDS = 22,
};

/* The limits are those of Linux for a stack of 8 MiB; pointers count 4 bytes
 * each. */
static int
args_count_strings(const char *const *v, uint32_t *ret_n, size_t *bytes)
{
    uint32_t n = 0;

    for (; v[n]; n++) {
        size_t len = strlen(v[n]) + 1;
        if (len > ARG_BYTES_MAX)
            return -E2BIG;
        *bytes += len;
        if (*bytes + 4 * (size_t)n > ARGS_BYTES_MAX)
            return -E2BIG;
    }
    *ret_n = n;
    return 0;
}

static char *
args_put_strings(char *p, const char *const *v)
{
    for (; *v; v++)
        p = stpcpy(p, *v) + 1;
    return p;
}

static void
args_free_strings(struct args *a)
{
    free(a->strings);
    free(a->exe);
}

/* Replaces the arguments of t, or frees `n` on failure. Each process has its
 * own copy, which counts as memory of the sandbox: otherwise a chain of forks
 * with large environments would be free. */
static int
args_put(struct task *t, OWN struct args *n)
{
    bool is_there = n->strings && n->exe;

    if (!is_there || !kernel_charge(t, LIMIT_memory, n->len)) {
        args_free_strings(n);
        return -ENOMEM;
    }
    args_fini(t);
    t->args = *n;
    return 0;
}

int
args_set(struct task *t, const char *const *argv, const char *const *envp,
         const char *exe)
{
    struct args n = {0};
    size_t bytes = 0;

    int r = args_count_strings(argv, &n.argc, &bytes);
    if (r == 0)
        r = args_count_strings(envp, &n.envc, &bytes);
    if (r < 0)
        return r;
    n.len = bytes;
    n.strings = malloc(bytes + 1);
    n.exe = strdup(exe);
    if (n.strings)
        (void)args_put_strings(args_put_strings(n.strings, argv), envp);
    return args_put(t, &n);
}

int
args_copy(struct task *to, const struct task *from)
{
    struct args n = from->args;

    if (!n.strings)
        return 0;
    n.strings = malloc(n.len + 1);
    n.exe = strdup(n.exe);
    if (n.strings)
        memcpy(n.strings, from->args.strings, n.len);
    return args_put(to, &n);
}

void
args_fini(struct task *t)
{
    limits_uncharge(&t->kernel->limits, LIMIT_memory, t->args.len);
    args_free_strings(&t->args);
    t->args = (struct args){0};
}

/* --- the entry block */

/* Everything before the strings is words: argc, both arrays with their ends,
 * auxv. */
static size_t
args_words_of(const struct args *a)
{
    return 1 + a->argc + 1 + a->envc + 1 + AUXV_WORDS;
}

uint32_t
thread_args_size(struct thread *th)
{
    const struct args *a = &th->owner->args;
    size_t exe = a->exe ? strlen(a->exe) + 1 : 1;

    return (uint32_t)(4 * args_words_of(a) + a->len + exe + 16);
}

/* Writes n pointers and a 0 from the strings at *s, whose guest address is
 * *at; both move on. */
static uint32_t *
args_put_pointers(uint32_t *w, uint32_t n, const char **s, gaddr *at)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t len = (uint32_t)strlen(*s) + 1;
        *w++ = *at;
        *at += len;
        *s += len;
    }
    *w++ = 0;
    return w;
}

/* The guest reserves the size that it has asked for. Between the two calls
 * nothing else runs in the process, so the arguments are still the same. A size
 * that is too small is ignored.
 *
 * The strings are copied as one piece, because they are stored in the order of
 * the block. 16 random bytes (AT_RANDOM) and the path of the program follow
 * them. */
void
thread_args_get(struct thread *th, gaddr at, uint32_t size)
{
    struct task *t = th->owner;
    const struct args *a = &t->args;
    uint8_t *block = guest_out(t, at, size);
    gaddr s = at + (gaddr)(4 * args_words_of(a));
    const char *from = a->strings;
    const struct cred *c = &t->as.cred;
    bool is_secure = c->uid != c->ruid || c->gid != c->rgid;

    if (!block || size < thread_args_size(th) || at % 4)
        return;
    uint32_t *w = (uint32_t *)(void *)block;
    memcpy(block + (s - at), a->strings, a->len);
    *w++ = a->argc;
    w = args_put_pointers(w, a->argc, &from, &s);
    w = args_put_pointers(w, a->envc, &from, &s);
    gaddr random = s, exe = s + 16;
    rng_fill(&th->kernel->rng, block + (random - at), 16);
    memcpy(block + (exe - at), a->exe, strlen(a->exe) + 1);
    const uint32_t auxv[AUXV_WORDS] = {
        AT_PAGESZ, 4096,      AT_CLKTCK, 100,     AT_UID,    c->ruid,
        AT_EUID,   c->uid,    AT_GID,    c->rgid, AT_EGID,   c->gid,
        AT_SECURE, is_secure, AT_RANDOM, random,  AT_EXECFN, exe,
        AT_HWCAP,  0,         AT_NULL,   0};
    memcpy(w, auxv, sizeof auxv);
}
