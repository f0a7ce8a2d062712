/* Compiled code of guests, mapped from the file that a compiler has written.
 *
 * Problem: a sealed process must never make memory executable that was ever
 * writable, but wasmtime loads code by copying it and changing the protection.
 *
 * Idea: the file is mapped read-only and loaded in place. Then the pages of its
 * instructions, whose position only the engine knows, are mapped a second time
 * over themselves, from the same file, as executable. The file has write seals,
 * so its bytes cannot change. */
#include "engine/code.h"

#include "engine/shim.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int
code_map(int hfd, size_t len, OWN struct code *ret)
{
    void *p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, hfd, 0);

    if (p == MAP_FAILED)
        return -errno;
    *ret = (struct code){p, len, NULL};
    return 0;
}

void
code_count(struct code *c, _Atomic size_t *total)
{
    *total += c->len;
    c->total = total;
}

void
code_unmap(struct code *c)
{
    if (c->p)
        (void)munmap((void *)c->p, c->len);
    if (c->total)
        *c->total -= c->len;
    *c = (struct code){0};
}

/* Called by the engine while it loads a module, with the position of the
 * instructions. Only code of a closed engine has a file (hfd): there, mprotect
 * would be refused by the seal. */
static bool
code_publish(void *env, const void *text, size_t len)
{
    const struct publisher *p = env;
    ptrdiff_t at = (const char *)text - (const char *)p->code.p;

    if (p->hfd >= 0)
        return mmap((void *)text, len, PROT_READ | PROT_EXEC,
                    MAP_PRIVATE | MAP_FIXED, p->hfd, at) == text;
    __builtin___clear_cache((char *)text, (char *)text + len);
    return !mprotect((void *)text, len, PROT_READ | PROT_EXEC);
}

void
code_publisher_init(struct publisher *p, wasm_config_t *config)
{
    const struct wsand_engine_publisher how = {code_publish, p,
                                               (size_t)sysconf(_SC_PAGESIZE)};

    p->hfd = -1;
    pthread_mutex_init(&p->lock, NULL);
    wsand_engine_code_publisher(config, &how);
}

/* The call-back has one environment for the whole engine, so the module that is
 * being loaded is named there, under the lock. */
wasmtime_error_t *
code_publisher_load(struct publisher *p, wasm_engine_t *wasm,
                    const struct code *code, int hfd,
                    OWN wasmtime_module_t **ret)
{
    pthread_mutex_lock(&p->lock);
    p->code = *code;
    p->hfd = hfd;
    wasmtime_error_t *error =
        wsand_engine_module_in_place(wasm, code->p, code->len, ret);
    p->hfd = -1;
    pthread_mutex_unlock(&p->lock);
    return error;
}
