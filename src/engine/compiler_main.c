/* The process that compiles one module.
 *
 * Everything that needs rights is done before the module is parsed. The filter
 * of system calls is loaded last. */
#include "engine/compiler.h"

#include "base/hfd.h"
#include "engine/config.h"
#include "engine/jail.h"
#include "engine/shim.h"
#include "engine/traps.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IN = 0, OUT = 1 };

/* No handlers of exit: they may do what the jail does not allow. */
static _Noreturn void
compiler_main_refuse(const char *why)
{
    (void)hfd_write_all(OUT, why, strlen(why));
    _exit(COMPILER_REFUSED);
}

static const struct compiler_order *
compiler_main_map_input(size_t *ret_len)
{
    struct stat st;

    if (fstat(IN, &st) < 0 || !S_ISREG(st.st_mode) ||
        st.st_size <= (off_t)sizeof(struct compiler_order))
        compiler_main_refuse("the compiler has no module");
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, IN, 0);
    if (map == MAP_FAILED)
        compiler_main_refuse("the compiler has no memory for the module");
    *ret_len = (size_t)st.st_size;
    return map;
}

_Noreturn void
compiler_compile(wasm_engine_t *wasm, const uint8_t *module, size_t len)
{
    wasm_byte_vec_t code;
    char why[200];

    wasmtime_error_t *error = wsand_engine_precompile(wasm, module, len, &code);
    if (error) {
        traps_error_text(error, why, sizeof why);
        compiler_main_refuse(why);
    }
    if (hfd_write_all(OUT, code.data, code.size) < 0)
        _exit(COMPILER_FAILED);
    _exit(COMPILER_DONE);
}

/* A trusted module is compiled by as many threads as there are processors,
 * without limits and without the filter, which allows no threads. */
_Noreturn void
compiler_main(void)
{
    size_t len = 0;

    if (jail_enter() < 0)
        compiler_main_refuse("the compiler cannot give up its rights");
    const struct compiler_order *order = compiler_main_map_input(&len);
    bool is_trusted = order->is_trusted;
    if (!is_trusted && jail_limit() < 0)
        compiler_main_refuse("the compiler cannot limit itself");
    wasm_engine_t *wasm = config_compiler(is_trusted);
    if (!wasm)
        compiler_main_refuse("the compiler has no target");
    if (!is_trusted && jail_filter() < 0)
        compiler_main_refuse("the compiler cannot be jailed: no seccomp");
    compiler_compile(wasm, (const uint8_t *)(order + 1), len - sizeof *order);
}
