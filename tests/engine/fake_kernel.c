#include "fake_kernel.h"
#include "kernel/wasi/wasi.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wasmtime.h>

/* --- what the kernel offers */

static struct fake *
fake_of(struct thread *th)
{
    return (struct fake *)th;
}

/* NULL outside of guest memory. */
static uint8_t *
fake_ptr(struct fake *f, uint32_t at, uint32_t len)
{
    if ((uint64_t)at + len > f->machine->size)
        f->machine->ops->refresh(f->machine);
    return (uint64_t)at + len > f->machine->size ? NULL : f->machine->base + at;
}

static int32_t
fake_peek(struct fake *f, uint32_t at)
{
    const uint8_t *p = fake_ptr(f, at, 1);

    return p ? *p : -EFAULT;
}

int32_t
thread_syscall(struct thread *th, uint32_t nr, const uint32_t a[6])
{
    struct fake *f = fake_of(th);

    switch (nr) {
    case CALL_EXIT:
        f->status = (int)a[0];
        th->leaving = LEAVE_EXIT;
        return 0;
    case CALL_LOG:
        if (f->n_log < FAKE_LOG)
            f->log[f->n_log++] = (int32_t)a[0];
        return 0;
    case CALL_WAIT:
        f->must_wait = true;
        return -EWAIT;
    case CALL_PEEK:
        return fake_peek(f, a[0]);
    default:
        return (int32_t)(a[0] + a[1] + a[2] + a[3] + a[4] + a[5]);
    }
}

bool
thread_is_leaving(const struct thread *th)
{
    return th->leaving != LEAVE_NO;
}

bool
thread_must_wait(struct thread *th)
{
    fake_of(th)->waits++;
    return fake_of(th)->must_wait;
}

uint32_t
thread_args_size(struct thread *th)
{
    (void)th;
    return 16;
}

void
thread_args_get(struct thread *th, gaddr at, uint32_t size)
{
    uint8_t *p = fake_ptr(fake_of(th), at, size);

    if (p)
        memset(p, 'a', size);
}

void
thread_sigword(struct thread *th, gaddr at)
{
    uint8_t *p = fake_ptr(fake_of(th), at, 1);

    if (p)
        *p = 1;
}

int32_t
thread_signext(struct thread *th, gaddr at)
{
    if (at == FAKE_END_AT)
        th->leaving = LEAVE_EXIT;
    return (int32_t)at + 1;
}

int
thread_may_fork(struct thread *th)
{
    return fake_of(th)->may_fork;
}

bool
thread_may_grow(struct thread *th, uint64_t old_bytes, uint64_t new_bytes)
{
    struct fake *f = fake_of(th);

    if (f->memory + (new_bytes - old_bytes) > f->memory_limit)
        return false;
    f->memory += new_bytes - old_bytes;
    return true;
}

bool
thread_next_share(struct thread *th, uint64_t at, struct machine_share *ret)
{
    *ret = fake_of(th)->share;
    return ret->len && at < ret->at + ret->len;
}

int32_t
thread_wasi(struct thread *th, unsigned row, const uint64_t *args)
{
    struct fake *f = fake_of(th);

    f->wasi_row = row;
    memcpy(f->wasi_args, args, sizeof f->wasi_args);
    if (f->wasi_result == -EWAIT)
        f->must_wait = true;
    if (f->wasi_result == -EPIPE)
        th->leaving = LEAVE_EXIT;
    return f->wasi_result;
}

/* --- for the tests */

struct engine *
fake_engine(uint32_t max_machines, const char *cache_dir)
{
    struct engine_options o = {.max_machines = max_machines,
                               .cache_dir = cache_dir,
                               .compiles_in_process = true};
    struct engine *e;
    char why[200] = "";

    int r = engine_new(&o, &e, why, sizeof why);
    if (!r)
        return e;
    fprintf(stderr, "no engine: %s (%s)\n", why, strerror(-r));
    exit(2);
}

uint8_t *
fake_wasm(const char *wat, size_t *ret_len)
{
    wasm_byte_vec_t wasm;

    wasmtime_error_t *error = wasmtime_wat2wasm(wat, strlen(wat), &wasm);
    if (error) {
        wasm_name_t text;
        wasmtime_error_message(error, &text);
        fprintf(stderr, "%.*s\n", (int)text.size, text.data);
        exit(2);
    }
    uint8_t *copy = malloc(wasm.size);
    if (copy)
        memcpy(copy, wasm.data, wasm.size);
    *ret_len = wasm.size;
    wasm_byte_vec_delete(&wasm);
    return copy;
}

int
fake_load(struct engine *e, const struct program_source *src,
          OWN struct program **ret, char *why, size_t why_size)
{
    struct program *pending = NULL;
    int r;

    while ((r = engine_ops()->load(e, src, ret, why, why_size)) ==
           -EINPROGRESS) {
        struct pollfd p = {.fd = (*ret)->hfd, .events = POLLIN};
        program_put(pending);
        pending = *ret;
        (void)poll(&p, 1, -1);
    }
    program_put(pending);
    return r;
}

OWN struct program *
fake_program(struct engine *e, const char *wat, bool is_trusted, char *why,
             size_t why_size)
{
    struct program *p = NULL;
    char unused[200];
    size_t len;

    uint8_t *wasm = fake_wasm(wat, &len);
    struct program_source src = {
        .bytes = wasm, .len = len, .name = "test", .is_trusted = is_trusted};
    int r = wasm ? fake_load(e, &src, &p, why ? why : unused,
                             why ? why_size : sizeof unused)
                 : -ENOMEM;
    free(wasm);
    return r ? NULL : p;
}

int
fake_init(struct fake *f, struct engine *e, struct program *p)
{
    *f = (struct fake){.engine = e, .memory_limit = UINT64_C(1) << 30};
    int r = engine_ops()->create(e, p, &f->thread, &f->machine);
    f->thread.machine = f->machine;
    return r;
}

void
fake_open(struct fake *f, struct engine *e, const char *wat)
{
    char why[200] = "";
    struct program *p = fake_program(e, wat, false, why, sizeof why);

    if (!p || fake_init(f, e, p) < 0) {
        fprintf(stderr, "no machine: %s\n", why);
        exit(2);
    }
    program_put(p);
}

void
fake_fini(struct fake *f)
{
    engine_ops()->free(f->machine);
    f->machine = NULL;
}

enum machine_event
fake_resume(struct fake *f)
{
    return engine_ops()->resume(f->machine, &f->trap);
}

enum machine_event
fake_run(struct fake *f)
{
    enum machine_event event;

    do
        event = fake_resume(f);
    while (event == MACHINE_YIELDED);
    return event;
}
