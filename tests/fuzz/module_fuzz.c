/* Arbitrary bytes as an untrusted program: they are refused, or run a few
 * slices over a kernel that does nothing. Links with
 * tests/engine/fake_kernel.c.
 *
 * Seeds: any small .wasm. An input that begins with '(' is text, so that the
 * fuzzer can write valid modules. */
#include "../engine/fake_kernel.h"

#include <stdlib.h>
#include <wasmtime.h>

#define SLICES       3
#define MEMORY_BYTES (16u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
run(struct engine *e, struct program *p)
{
    struct fake f;

    if (fake_init(&f, e, p) < 0)
        return;
    f.memory_limit = MEMORY_BYTES;
    for (int i = 0; i < SLICES; i++) {
        enum machine_event event = fake_resume(&f);
        f.must_wait = false;
        if (event != MACHINE_WAITS && event != MACHINE_YIELDED &&
            event != MACHINE_FORKS)
            break;
    }
    fake_fini(&f);
}

static void
load_and_run(struct engine *e, const uint8_t *data, size_t size)
{
    struct program_source src = {.bytes = data, .len = size, .name = "fuzz"};
    struct program *p;
    char why[100];

    if (engine_ops()->load(e, &src, &p, why, sizeof why) < 0)
        return;
    run(e, p);
    program_put(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct engine *e; /* one for all inputs: it is dear to make */
    wasm_byte_vec_t wasm;

    if (!e)
        e = fake_engine(4, NULL);
    if (!size || data[0] != '(') {
        load_and_run(e, data, size);
        return 0;
    }
    wasmtime_error_t *error =
        wasmtime_wat2wasm((const char *)data, size, &wasm);
    if (error) {
        wasmtime_error_delete(error);
        return 0;
    }
    load_and_run(e, (const uint8_t *)wasm.data, wasm.size);
    wasm_byte_vec_delete(&wasm);
    return 0;
}
