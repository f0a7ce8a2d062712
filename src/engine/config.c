/* The settings of wasmtime, and their adaptation to this host.
 *
 * Each memory slot reserves 4 GiB, so that accesses of guests need no bounds
 * checks and a memory never moves. A machine uses two slots: its memory, and
 * the heap for its exceptions.
 *
 * Creating a wasmtime engine aborts the process if the host lacks something, so
 * everything that can be missing is checked before. */
#include "engine/config.h"

#include "engine/code.h"
#include "engine/engine_impl.h"
#include "engine/jail.h"
#include "engine/shim.h"
#include "engine/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
/* Address space of one memory. Only touched pages use memory. */
#define SLOT_BYTES    (4 * GIB + 64 * MIB) /* with its guards */
#define HOST_STACK    (512 * KIB)          /* for our code on a fiber */
#define MAPS_PER_SLOT 6 /* of the host's mappings, when it is used */

/* The processors that compiled code runs on, not those of the build host. */
#if defined(__x86_64__)
#define TARGET "x86_64-unknown-linux-gnu"
static const char *const cpu_flags[] = {"has_sse3",   "has_ssse3",
                                        "has_sse41",  "has_sse42",
                                        "has_popcnt", "has_cmpxchg16b"};
#elif defined(__aarch64__)
#define TARGET "aarch64-unknown-linux-gnu"
static const char *const cpu_flags[] = {"use_bti"};
#else
#error "no baseline chosen for this processor"
#endif

static bool
config_cpu_is_enough(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
#else
    return true;
#endif
}

/* The host's limit on mappings of a process. 65530 is the default of Linux, for
 * hosts that hide the file. */
static uint64_t
config_max_maps(void)
{
    char text[32] = "";
    unsigned long long n = 65530;
    int hfd = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);

    if (hfd < 0)
        return n;
    if (read(hfd, text, sizeof text - 1) > 0)
        (void)sscanf(text, "%llu", &n);
    close(hfd);
    return n;
}

/* Tries it out: an rlimit or a small address space shows only then. */
static bool
config_address_space_has(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p != MAP_FAILED && !munmap(p, bytes);
}

/* Returns the size of the largest pool up to `wanted` that this process can
 * have; 0: none. The search goes down by an eighth at a time, so it is
 * short. */
static uint32_t
config_pool_slots(uint32_t wanted, uint64_t stack_bytes)
{
    uint64_t by_maps = config_max_maps() / MAPS_PER_SLOT;
    uint64_t slot =
        2 * SLOT_BYTES + stack_bytes + UINT64_C(8) * TABLE_ELEMENTS + 4 * MIB;

    if (wanted > by_maps)
        wanted = (uint32_t)by_maps;
    while (wanted && !config_address_space_has(wanted * slot + GIB))
        wanted -= wanted / 8 + 1;
    return wanted;
}

/* Features that programs do not need are off: each is code of the compiler that
 * a hostile module could reach. Atomic instructions are on, because files with
 * thread-local variables have them; memory that OS threads share is not. */
static void
config_set_features(wasm_config_t *c)
{
    wasmtime_config_wasm_exceptions_set(c, true);
    wasmtime_config_wasm_gc_set(c, false);
    wasmtime_config_wasm_function_references_set(c, false);
    wasmtime_config_wasm_memory64_set(c, false);
    wasmtime_config_wasm_multi_memory_set(c, false);
    wasmtime_config_wasm_relaxed_simd_set(c, false);
    wasmtime_config_wasm_wide_arithmetic_set(c, false);
    wasmtime_config_wasm_custom_page_sizes_set(c, false);
    wasmtime_config_wasm_stack_switching_set(c, false);
    wasmtime_config_shared_memory_set(c, false);
}

static int
config_set_compiler(wasm_config_t *c)
{
    wasmtime_error_t *error = wasmtime_config_target_set(c, TARGET);

    if (error) {
        wasmtime_error_delete(error);
        return -ENOTSUP;
    }
    for (size_t i = 0; i < sizeof cpu_flags / sizeof *cpu_flags; i++)
        wasmtime_config_cranelift_flag_enable(c, cpu_flags[i]);
    wasmtime_config_cranelift_opt_level_set(c, WASMTIME_OPT_LEVEL_SPEED);
    wasmtime_config_native_unwind_info_set(c, false);
    return 0;
}

/* Every slot has two memories, one for the heap of exceptions. Warm slots keep
 * some pages, so that the next small program starts without faults. */
static void
config_set_pool(wasm_config_t *c, uint32_t slots, size_t keep_bytes,
                bool has_scan)
{
    wasmtime_pooling_allocation_config_t *p =
        wasmtime_pooling_allocation_config_new();

#define SET(name, value) \
    wasmtime_pooling_allocation_config_##name##_set(p, value)
    SET(total_core_instances, slots);
    SET(total_memories, 2 * slots);
    SET(total_tables, slots);
    SET(total_stacks, slots);
    SET(total_gc_heaps, slots);
    SET(max_memory_size, 4 * GIB);
    SET(table_elements, TABLE_ELEMENTS);
    SET(max_core_instance_size, 4 * MIB);
    SET(max_unused_warm_slots, slots);
    SET(linear_memory_keep_resident, keep_bytes);
    SET(table_keep_resident, 64 * KIB);
    SET(async_stack_keep_resident, 32 * KIB);
#undef SET
    wsand_engine_pagemap_scan(p, has_scan ? WSAND_PAGEMAP_SCAN_AUTO
                                          : WSAND_PAGEMAP_SCAN_OFF);
    wasmtime_pooling_allocation_strategy_set(c, p);
    wasmtime_pooling_allocation_config_delete(p);
}

static OWN wasm_config_t *
config_new(const struct engine_options *o, size_t stack_bytes)
{
    wasm_config_t *c = wasm_config_new();

    config_set_features(c);
    if (config_set_compiler(c) < 0) {
        wasm_config_delete(c);
        return NULL;
    }
    wasmtime_config_epoch_interruption_set(c, !o->is_unpreemptive);
    wasmtime_config_memory_reservation_set(c, 4 * GIB);
    wasmtime_config_max_wasm_stack_set(c, stack_bytes);
    wasmtime_config_async_stack_size_set(c, stack_bytes + HOST_STACK);
    wsand_engine_collector_copying(c);
    wsand_engine_async_stack_zeroing(c, true);
    wsand_engine_wasm_backtrace_max_frames(c, 0);
    return c;
}

/* Code does not depend on the size of the stack or of the pool, so an engine
 * with default options may load it. */
OWN wasm_engine_t *
config_compiler(bool has_threads)
{
    wasm_config_t *c = config_new(&(struct engine_options){0}, 8 * MIB);

    if (!c)
        return NULL;
    wasmtime_config_parallel_compilation_set(c, has_threads);
    return wasm_engine_new_with_config(c);
}

/* Describes everything that compiled code depends on. Code may be loaded by
 * engines with the same description; the number at its start is the version of
 * this text. */
static void
config_describe_settings(struct engine *e, const struct engine_options *o)
{
    char cpu[80] = "";

    for (size_t i = 0; i < sizeof cpu_flags / sizeof *cpu_flags; i++) {
        strncat(cpu, " ", sizeof cpu - strlen(cpu) - 1);
        strncat(cpu, cpu_flags[i], sizeof cpu - strlen(cpu) - 1);
    }
    (void)snprintf(e->settings, sizeof e->settings,
                   "2 wasmtime " WASMTIME_VERSION " " TARGET "%s%s", cpu,
                   o->is_unpreemptive ? "" : " epochs");
}

int
config_apply(struct engine *e, const struct engine_options *o, char *why,
             size_t why_size)
{
    bool can_tell = stacks_can_tell();
    size_t stack_bytes = can_tell ? 32 * MIB : 8 * MIB;
    bool has_scan = e->pagemap.hfd >= 0;
    size_t keep_bytes = has_scan ? 4 * MIB : 256 * KIB;
    uint32_t wanted = o->max_machines ? o->max_machines : 1024;

    if (!config_cpu_is_enough()) {
        (void)snprintf(why, why_size, "this processor lacks SSE4.2 or POPCNT");
        return -ENOTSUP;
    }
    if (o->max_stack_bytes)
        stack_bytes = o->max_stack_bytes;
    if (o->keep_resident_bytes)
        keep_bytes = o->keep_resident_bytes;
    e->max_machines = config_pool_slots(wanted, stack_bytes + HOST_STACK);
    if (!e->max_machines) {
        (void)snprintf(why, why_size, "not enough address space for a pool");
        return -EAGAIN;
    }
    wasm_config_t *c = config_new(o, stack_bytes);
    if (!c) {
        (void)snprintf(why, why_size, "the compiler has no target " TARGET);
        return -ENOTSUP;
    }
    config_set_pool(c, e->max_machines, keep_bytes, has_scan);
    if (e->keeps_compiler)
        code_publisher_init(&e->publisher, c);
    e->wasm = wasm_engine_new_with_config(c);
    e->stack_page = can_tell ? (size_t)sysconf(_SC_PAGESIZE) : 0;
    config_describe_settings(e, o);
    return 0;
}
