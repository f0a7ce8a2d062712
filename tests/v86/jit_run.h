/* Modules of the core's dialect, made of the bytes of their code, and run by
 * our compiler over a memory of their own. Used by tests and by a fuzz target.
 *
 * All modules import the functions of jit_run_find, in that order, and the
 * memory. */
#ifndef TESTS_V86_JIT_RUN_H
#define TESTS_V86_JIT_RUN_H

#include "v86/core.h"
#include "v86/jit_arena.h"
#include "v86/jit_function.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    JIT_RUN_MEMORY = 64 << 10,
    JIT_RUN_RECORD = 1 << 12, /* results of called functions */
};

/* Where generated code returns to after a trap. */
static sigjmp_buf jit_run_end;

/* --- functions that modules import; each returns a mix of its arguments and
 * writes that to the memory, so that a wrong argument is seen. --- */

static inline uint64_t
jit_run_mix(uint8_t *memory, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
            uint64_t e)
{
    uint64_t sum, old;

    memcpy(&old, memory + JIT_RUN_RECORD, sizeof old);
    sum = old * 31 + a * 3 + b * 5 + c * 7 + d * 11 + e * 13 + 1;
    memcpy(memory + JIT_RUN_RECORD, &sum, sizeof sum);
    return sum;
}

static inline void
jit_run_v(void *instance)
{
    (void)jit_run_mix(instance, 1, 2, 3, 4, 5);
}

static inline void
jit_run_i_v(void *instance, uint32_t a)
{
    (void)jit_run_mix(instance, a, 0, 0, 0, 0);
}

static inline uint32_t
jit_run_ii_i(void *instance, uint32_t a, uint32_t b)
{
    return (uint32_t)jit_run_mix(instance, a, b, 0, 0, 0);
}

static inline uint64_t
jit_run_ili_l(void *instance, uint32_t a, uint64_t b, uint32_t c)
{
    return jit_run_mix(instance, a, b, c, 0, 0);
}

static inline uint32_t
jit_run_iiiii_i(void *instance, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                uint32_t e)
{
    return (uint32_t)jit_run_mix(instance, a, b, c, d, e);
}

static inline uint32_t
jit_run_fd_i(void *instance, float a, double b)
{
    uint32_t x;
    uint64_t y;

    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return (uint32_t)jit_run_mix(instance, x, y, 0, 0, 0);
}

static const struct core_symbol jit_run_symbols[] = {
    {"v", "", 'v', (void (*)(void))jit_run_v},
    {"i_v", "i", 'v', (void (*)(void))jit_run_i_v},
    {"ii_i", "ii", 'i', (void (*)(void))jit_run_ii_i},
    {"ili_l", "ili", 'l', (void (*)(void))jit_run_ili_l},
    {"iiiii_i", "iiiii", 'i', (void (*)(void))jit_run_iiiii_i},
    {"fd_i", "fd", 'i', (void (*)(void))jit_run_fd_i},
};

enum { JIT_RUN_SYMBOLS = sizeof jit_run_symbols / sizeof *jit_run_symbols };

static inline const struct core_symbol *
jit_run_find(const char *name, size_t len)
{
    for (int i = 0; i < JIT_RUN_SYMBOLS; i++)
        if (strlen(jit_run_symbols[i].name) == len &&
            !memcmp(jit_run_symbols[i].name, name, len))
            return &jit_run_symbols[i];
    return NULL;
}

/* --- modules --- */

struct jit_bytes {
    uint8_t b[1 << 16];
    size_t len;
};

static inline void
jit_byte(struct jit_bytes *m, unsigned value)
{
    if (m->len < sizeof m->b)
        m->b[m->len++] = (uint8_t)value;
}

static inline void
jit_copy(struct jit_bytes *m, const void *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        jit_byte(m, ((const uint8_t *)p)[i]);
}

static inline void
jit_signed(struct jit_bytes *m, int64_t value)
{
    while (value < -64 || value > 63) {
        jit_byte(m, 0x80 | ((unsigned)value & 0x7f));
        value >>= 7;
    }
    jit_byte(m, (unsigned)value & 0x7f);
}

static inline void
jit_unsigned(struct jit_bytes *m, uint64_t value)
{
    for (; value > 127; value >>= 7)
        jit_byte(m, 0x80 | ((unsigned)value & 0x7f));
    jit_byte(m, (unsigned)value);
}

static inline unsigned
jit_type_byte(char type)
{
    return type == 'i' ? 0x7f : type == 'l' ? 0x7e : type == 'f' ? 0x7d : 0x7c;
}

/* A section, whose size is five bytes as the core writes it. */
static inline size_t
jit_section(struct jit_bytes *m, unsigned id)
{
    jit_byte(m, id);
    jit_copy(m, "\x80\x80\x80\x80\0", 5);
    return m->len;
}

static inline void
jit_section_end(struct jit_bytes *m, size_t start)
{
    size_t len = m->len - start;

    for (int i = 0; i < 4; i++, len >>= 7)
        m->b[start - 5 + i] = (uint8_t)(0x80 | (len & 0x7f));
    m->b[start - 1] = (uint8_t)len;
}

static inline void
jit_module_types(struct jit_bytes *m)
{
    size_t start = jit_section(m, 1);

    jit_byte(m, JIT_RUN_SYMBOLS);
    for (int i = 0; i < JIT_RUN_SYMBOLS; i++) {
        const struct core_symbol *s = &jit_run_symbols[i];
        jit_byte(m, 0x60);
        jit_byte(m, (unsigned)strlen(s->params));
        for (const char *p = s->params; *p; p++)
            jit_byte(m, jit_type_byte(*p));
        jit_byte(m, s->result != 'v');
        if (s->result != 'v')
            jit_byte(m, jit_type_byte(s->result));
    }
    jit_section_end(m, start);
}

static inline void
jit_module_imports(struct jit_bytes *m)
{
    size_t start = jit_section(m, 2);

    jit_byte(m, JIT_RUN_SYMBOLS + 1);
    for (int i = 0; i < JIT_RUN_SYMBOLS; i++) {
        const char *name = jit_run_symbols[i].name;
        jit_copy(m, "\1e", 2);
        jit_byte(m, (unsigned)strlen(name));
        jit_copy(m, name, strlen(name));
        jit_byte(m, 0);
        jit_byte(m, (unsigned)i);
    }
    jit_copy(m, "\1e\1m\2\0\1", 7);
    jit_section_end(m, start);
}

/* Makes a module of locals, as letters of types, and code with its last end.
 * Local 0 is the parameter. */
static inline void
jit_module_make(struct jit_bytes *m, const char *locals, const void *code,
                size_t len)
{
    static const uint8_t head[] = {0, 'a', 's', 'm', 1, 0, 0, 0};
    size_t start;

    m->len = 0;
    jit_copy(m, head, sizeof head);
    jit_module_types(m);
    jit_module_imports(m);
    start = jit_section(m, 3);
    jit_copy(m, "\1\1", 2);
    jit_section_end(m, start);
    start = jit_section(m, 7);
    jit_copy(m, "\1\1f\0", 4);
    jit_byte(m, JIT_RUN_SYMBOLS);
    jit_section_end(m, start);

    start = jit_section(m, 10);
    jit_byte(m, 1);
    jit_unsigned(m, 1 + 2 * strlen(locals) + len);
    jit_byte(m, (unsigned)strlen(locals));
    for (const char *p = locals; *p; p++) {
        jit_byte(m, 1);
        jit_byte(m, jit_type_byte(*p));
    }
    jit_copy(m, code, len);
    jit_section_end(m, start);
}

/* --- runs --- */

struct jit_run {
    uint8_t *memory; /* JIT_RUN_MEMORY bytes of a reservation of 8 GiB */
    struct jit_arena *arena;
    const char *refusal;
};

static inline void
jit_run_init(struct jit_run *r)
{
    *r = (struct jit_run){0};
    r->memory = mmap(NULL, 1ul << 33, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->memory == MAP_FAILED ||
        mprotect(r->memory, JIT_RUN_MEMORY, PROT_READ | PROT_WRITE) ||
        jit_arena_new(1 << 20, &r->arena))
        abort();
}

static inline void
jit_run_fini(struct jit_run *r)
{
    jit_arena_free(r->arena);
    (void)munmap(r->memory, 1ul << 33);
}

static inline void
jit_run_trap(void)
{
    siglongjmp(jit_run_end, 1);
}

static inline void
jit_run_fault(int number)
{
    (void)number;
    siglongjmp(jit_run_end, 1);
}

/* Returns the code of a module, which the caller removes from the arena, or
 * NULL with r->refusal. */
static inline core_code *
jit_run_compile(struct jit_run *r, const uint8_t *wasm, size_t len)
{
    struct jit_module module;
    struct jit_function *f;
    uint8_t *code;
    size_t bytes;
    void *at = NULL;

    r->refusal = jit_module_parse(&module, wasm, len, jit_run_find);
    if (r->refusal)
        return NULL;
    f = calloc(1, sizeof *f);
    if (!f)
        abort();
    x64_init(&f->x);
    r->refusal = jit_function_translate(f, &module, r->memory, jit_run_trap);
    if (!r->refusal && !x64_link(&f->x, &code, &bytes)) {
        at = jit_arena_add(r->arena, code, bytes);
        free(code);
    }
    x64_fini(&f->x);
    free(f);
    return (core_code *)at;
}

/* Runs code. Returns false if it traps. */
static inline bool
jit_run_code(struct jit_run *r, core_code *code, uint32_t state)
{
    struct sigaction fault = {.sa_handler = jit_run_fault}, old;
    volatile bool has_returned = false;

    (void)sigaction(SIGSEGV, &fault, &old);
    if (!sigsetjmp(jit_run_end, 1)) {
        code(r->memory, state);
        has_returned = true;
    }
    (void)sigaction(SIGSEGV, &old, NULL);
    return has_returned;
}

#endif
