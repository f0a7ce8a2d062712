/* The core on wasm2c's C code: its imports, its traps, and its table of
 * generated functions.
 *
 * A panic of the core is a WebAssembly trap, and so is an access outside its
 * memory. wasm2c's runtime leaves the C code with siglongjmp. Everything that
 * may trap is therefore called by core_enter, and callbacks of struct core_host
 * keep nothing that only their return would release.
 *
 * The core may not be entered while it generates a function: the bytes are
 * copied, and compiled when core_run's main loop has returned. */
#include "v86/core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <v86core.h>
#include <wasm-rt-impl.h>

/* Places in the core's memory, which belong to this version of it. */
enum {
    CORE_ACPI = 552,
    CORE_INSTRUCTIONS = 664,
    CORE_MEMORY_SIZE = 812,
};

/* Generated functions begin here in the table of functions. */
enum { CORE_TABLE_BASE = 1024 };

/* The module that waits to be compiled. */
struct core_pending {
    bool is_set;
    uint32_t index, address, flags;
    uint8_t *wasm;
    size_t bytes, cap;
};

/* The generated code knows this structure by the name of its imports. */
struct Z_env_instance_t {
    wasm_rt_funcref_table_t table;
    struct core_host host;
    struct core_compiler compiler;
    struct core_pending pending;
    uint32_t function_type;
    /* is_inside: a frame of core_enter catches traps. */
    bool has_failed, is_halted, is_inside;
    char error[256];
    uint32_t ram_offset;
    double idle_ms;
    Z_v86_instance_t instance;
};

/* A core is its environment: the callbacks get no other pointer. */
struct core {
    struct Z_env_instance_t env;
};

static bool core_exists;

/* --- what the core imports --- */

typedef struct Z_env_instance_t core_env;

wasm_rt_funcref_table_t *
Z_envZ___indirect_function_table(core_env *env)
{
    return &env->table;
}

u32
Z_envZ_io_port_read8(core_env *env, u32 port)
{
    return env->host.port_read(env->host.self, port, 1) & 0xff;
}

u32
Z_envZ_io_port_read16(core_env *env, u32 port)
{
    return env->host.port_read(env->host.self, port, 2) & 0xffff;
}

u32
Z_envZ_io_port_read32(core_env *env, u32 port)
{
    return env->host.port_read(env->host.self, port, 4);
}

void
Z_envZ_io_port_write8(core_env *env, u32 port, u32 value)
{
    env->host.port_write(env->host.self, port, value & 0xff, 1);
}

void
Z_envZ_io_port_write16(core_env *env, u32 port, u32 value)
{
    env->host.port_write(env->host.self, port, value & 0xffff, 2);
}

void
Z_envZ_io_port_write32(core_env *env, u32 port, u32 value)
{
    env->host.port_write(env->host.self, port, value, 4);
}

u32
Z_envZ_mmap_read8(core_env *env, u32 addr)
{
    return env->host.mmio_read(env->host.self, addr, 1) & 0xff;
}

u32
Z_envZ_mmap_read32(core_env *env, u32 addr)
{
    return env->host.mmio_read(env->host.self, addr, 4);
}

void
Z_envZ_mmap_write8(core_env *env, u32 addr, u32 value)
{
    env->host.mmio_write(env->host.self, addr, value & 0xff, 1);
}

void
Z_envZ_mmap_write16(core_env *env, u32 addr, u32 value)
{
    env->host.mmio_write(env->host.self, addr, value & 0xffff, 2);
}

void
Z_envZ_mmap_write32(core_env *env, u32 addr, u32 value)
{
    env->host.mmio_write(env->host.self, addr, value, 4);
}

void
Z_envZ_mmap_write64(core_env *env, u32 addr, u32 low, u32 high)
{
    Z_envZ_mmap_write32(env, addr, low);
    Z_envZ_mmap_write32(env, addr + 4, high);
}

void
Z_envZ_mmap_write128(core_env *env, u32 addr, u32 a, u32 b, u32 c, u32 d)
{
    Z_envZ_mmap_write64(env, addr, a, b);
    Z_envZ_mmap_write64(env, addr + 8, c, d);
}

f64
Z_envZ_microtick(core_env *env)
{
    return env->host.now_ms(env->host.self);
}

f64
Z_envZ_run_hardware_timers(core_env *env, u32 acpi, f64 now)
{
    (void)acpi;
    return env->host.run_timers(env->host.self, now);
}

u32
Z_envZ_get_rand_int(core_env *env)
{
    return env->host.random(env->host.self);
}

void
Z_envZ_cpu_event_halt(core_env *env)
{
    env->is_halted = true;
}

/* The caller of core_run decides how long it sleeps. */
void
Z_envZ_stop_idling(core_env *env)
{
    (void)env;
}

/* Returns the bytes, or NULL if they are not inside the core's memory. */
static const uint8_t *
core_bytes(core_env *env, u32 addr, u32 len)
{
    const wasm_rt_memory_t *m = &env->instance.w2c_memory;

    return (uint64_t)addr + len <= m->size ? m->data + addr : NULL;
}

/* The core logs nothing but the text of a panic, before its trap. */
void
Z_envZ_console_log_from_wasm(core_env *env, u32 addr, u32 len)
{
    const uint8_t *text = core_bytes(env, addr, len);

    if (text && !env->error[0])
        (void)snprintf(env->error, sizeof env->error, "%.*s",
                       (int)(len < sizeof env->error ? len : sizeof env->error),
                       (const char *)text);
}

/* A module that is too large for memory is not compiled, like one that the
 * compiler refuses. */
static bool
core_pending_reserve(struct core_pending *p, size_t bytes)
{
    if (bytes <= p->cap)
        return true;

    uint8_t *wasm = realloc(p->wasm, bytes);
    if (!wasm)
        return false;
    p->wasm = wasm;
    p->cap = bytes;
    return true;
}

void
Z_envZ_codegen_finalize(core_env *env, u32 index, u32 address, u32 flags,
                        u32 wasm, u32 len)
{
    struct core_pending *p = &env->pending;
    const uint8_t *bytes = core_bytes(env, wasm, len);

    if (p->is_set || !bytes || index >= CORE_FUNCTIONS ||
        !core_pending_reserve(p, len))
        return;
    memcpy(p->wasm, bytes, len);
    p->bytes = len;
    p->index = index;
    p->address = address;
    p->flags = flags;
    p->is_set = true;
}

void
Z_envZ_jit_clear_func(core_env *env, u32 index)
{
    if (index >= CORE_FUNCTIONS)
        return;
    env->table.data[CORE_TABLE_BASE + index] = wasm_rt_funcref_null_value;
    if (env->compiler.clear)
        env->compiler.clear(env->compiler.self, index);
}

/* --- functions of the core --- */

/* Remembers a trap as the core's failure. Returns -EIO. */
static int
core_fail(core_env *env, wasm_rt_trap_t trap)
{
    env->has_failed = true;
    if (!env->error[0])
        (void)snprintf(env->error, sizeof env->error, "%s",
                       wasm_rt_strerror(trap));
    return -EIO;
}

typedef void core_call(core_env *env, const uint32_t *args);

/* Calls a function that may trap. Returns 0 or -EIO. A device that calls the
 * core from one of its callbacks is inside already: its trap ends the outer
 * call, too. */
static int
core_enter(core_env *env, core_call *call, const uint32_t *args)
{
    if (env->has_failed)
        return -EIO;
    if (env->is_inside) {
        call(env, args);
        return 0;
    }
    env->is_inside = true;

    wasm_rt_trap_t trap = (wasm_rt_trap_t)wasm_rt_impl_try();
    if (trap == WASM_RT_TRAP_NONE)
        call(env, args);
    env->is_inside = false;
    return trap == WASM_RT_TRAP_NONE ? 0 : core_fail(env, trap);
}

static void
core_store32(core_env *env, u32 addr, u32 value)
{
    memcpy(env->instance.w2c_memory.data + addr, &value, sizeof value);
}

/* The order is that of the package's own host. Only then does the core know
 * the size of its memory when it allocates it. */
static void
core_start(core_env *env, const uint32_t *args)
{
    Z_v86_instance_t *in = &env->instance;
    uint32_t ram_bytes = args[0];

    Z_v86_instantiate(in, env);
    Z_v86Z_rust_init(in);
    core_store32(env, CORE_MEMORY_SIZE, ram_bytes);
    env->ram_offset = Z_v86Z_allocate_memory(in, ram_bytes);
    Z_v86Z_set_jit_config(in, 0, 1);
    in->w2c_memory.data[CORE_ACPI] = 0;
    Z_v86Z_reset_cpu(in);
}

int
core_new(uint32_t ram_bytes, const struct core_host *host,
         OWN struct core **ret)
{
    if (ram_bytes < CORE_RAM_MIN || ram_bytes % (64 << 10))
        return -EINVAL;
    if (core_exists)
        return -EBUSY;

    struct core *core = calloc(1, sizeof *core);
    if (!core)
        return -ENOMEM;
    core_exists = true;
    core->env.host = *host;
    wasm_rt_init();
    Z_v86_init_module();
    wasm_rt_allocate_funcref_table(&core->env.table,
                                   CORE_TABLE_BASE + CORE_FUNCTIONS,
                                   CORE_TABLE_BASE + CORE_FUNCTIONS);
    core->env.function_type = wasm_rt_register_func_type(1, 0, WASM_RT_I32);
    if (core_enter(&core->env, core_start, &ram_bytes) < 0) {
        core_free(core);
        return -EIO;
    }
    *ret = core;
    return 0;
}

void
core_free(struct core *core)
{
    if (!core)
        return;
    if (core->env.instance.w2c_memory.data)
        Z_v86_free(&core->env.instance);
    wasm_rt_free_funcref_table(&core->env.table);
    free(core->env.pending.wasm);
    free(core);
    core_exists = false;
}

static void
core_enable_compiler(core_env *env, const uint32_t *args)
{
    (void)args;
    Z_v86Z_set_jit_config(&env->instance, 0, 0);
}

void
core_set_compiler(struct core *core, const struct core_compiler *compiler)
{
    core->env.compiler = *compiler;
    (void)core_enter(&core->env, core_enable_compiler, NULL);
}

static void
core_clear_cache(core_env *env, const uint32_t *args)
{
    (void)args;
    Z_v86Z_jit_clear_cache_js(&env->instance);
}

void
core_drop_code(struct core *core)
{
    (void)core_enter(&core->env, core_clear_cache, NULL);
}

/* The core generates the next function only after this one is finished, so a
 * function that is not compiled is the last one. */
static void
core_compile(core_env *env)
{
    struct core_pending *p = &env->pending;
    wasm_rt_funcref_t *entry = &env->table.data[CORE_TABLE_BASE + p->index];

    p->is_set = false;
    core_code *code =
        env->compiler.compile(env->compiler.self, p->index, p->wasm, p->bytes);
    if (!code)
        return;
    *entry = (wasm_rt_funcref_t){
        .func_type = env->function_type,
        .func = (wasm_rt_function_ptr_t)code,
        .module_instance = &env->instance,
    };
    Z_v86Z_codegen_finalize_finished(&env->instance, p->index, p->address,
                                     p->flags);
}

static void
core_step(core_env *env, const uint32_t *args)
{
    (void)args;
    env->idle_ms = Z_v86Z_main_loop(&env->instance);
    if (env->pending.is_set)
        core_compile(env);
}

int
core_run(struct core *core, double *ret_idle_ms)
{
    int r = core_enter(&core->env, core_step, NULL);

    if (r == 0)
        *ret_idle_ms = core->env.idle_ms;
    return r;
}

const char *
core_error(const struct core *core)
{
    return core->env.has_failed ? core->env.error : "";
}

bool
core_is_halted(const struct core *core)
{
    return core->env.is_halted;
}

uint32_t
core_instructions(const struct core *core)
{
    uint32_t n;

    memcpy(&n, core->env.instance.w2c_memory.data + CORE_INSTRUCTIONS,
           sizeof n);
    return n;
}

static void
core_raise(core_env *env, const uint32_t *args)
{
    Z_v86Z_device_raise_irq(&env->instance, args[0]);
}

/* The processor has 16 lines; the core would panic at another number. */
void
core_raise_irq(struct core *core, unsigned line)
{
    (void)core_enter(&core->env, core_raise, &(uint32_t){line & 15});
}

static void
core_lower(core_env *env, const uint32_t *args)
{
    Z_v86Z_device_lower_irq(&env->instance, args[0]);
}

void
core_lower_irq(struct core *core, unsigned line)
{
    (void)core_enter(&core->env, core_lower, &(uint32_t){line & 15});
}

uint8_t *
core_ram(struct core *core)
{
    return core_memory(core) + core->env.ram_offset;
}

uint32_t
core_ram_bytes(const struct core *core)
{
    uint32_t n;

    memcpy(&n, core->env.instance.w2c_memory.data + CORE_MEMORY_SIZE, sizeof n);
    return n;
}

static void
core_drop_range(core_env *env, const uint32_t *args)
{
    Z_v86Z_jit_dirty_cache(&env->instance, args[0], args[1]);
}

void
core_dirty(struct core *core, uint32_t start, uint32_t end)
{
    if (start < end)
        (void)core_enter(&core->env, core_drop_range,
                         (const uint32_t[]){start, end});
}

uint8_t *
core_memory(struct core *core)
{
    return core->env.instance.w2c_memory.data;
}

void
core_trap(void)
{
    wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
}

const struct core_symbol *
core_find_symbol(const char *name, size_t len)
{
#define CORE_SYMBOL(name, function, params, result) \
    {name, params, result, (void (*)(void))function},
    static const struct core_symbol symbols[] = {
#include <v86core.def>
    };
#undef CORE_SYMBOL

    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strlen(symbols[i].name) == len &&
            !memcmp(symbols[i].name, name, len))
            return &symbols[i];
    return NULL;
}
