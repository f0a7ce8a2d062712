/* The core of the emulator: processor, interrupt controllers and RAM of an i386
 * computer. It is the only part that knows how the core is made (wasm2c's C
 * code of the npm package v86), so that another engine can replace it.
 *
 * A process has at most one core, because traps of the generated code are
 * caught by a process-wide handler. After fork, parent and child each have a
 * core of their own: all its memory is private. */
#ifndef V86_CORE_H
#define V86_CORE_H

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core;

enum { CORE_RAM_MIN = 1 << 20 };

/* The rest of the computer, as the core sees it. `bytes` is 1, 2 or 4. The
 * functions are called from core_run only. */
struct core_host {
    void *self;
    uint32_t (*port_read)(void *self, uint32_t port, unsigned bytes);
    void (*port_write)(void *self, uint32_t port, uint32_t value,
                       unsigned bytes);
    /* Physical addresses outside the RAM; reads have 1 or 4 bytes. */
    uint32_t (*mmio_read)(void *self, uint32_t addr, unsigned bytes);
    void (*mmio_write)(void *self, uint32_t addr, uint32_t value,
                       unsigned bytes);
    /* Milliseconds since any fixed point in time; never goes back. */
    double (*now_ms)(void *self);
    /* Runs timers that are due at `now_ms`. Returns the milliseconds until the
     * next one. */
    double (*run_timers)(void *self, double now_ms);
    uint32_t (*random)(void *self);
};

/* Code of one function that the core has generated. `instance` is the value
 * that exported functions of the core expect as their first argument. */
typedef void core_code(void *instance, uint32_t state);

/* Compiles functions that the core generates as WebAssembly modules. */
struct core_compiler {
    void *self;
    /* Returns the code of a module, which must stay valid until `clear` with
     * the same index, or NULL if the module cannot be compiled. The core then
     * compiles nothing more, and interprets. `wasm` is borrowed. */
    core_code *(*compile)(void *self, uint32_t index, const uint8_t *wasm,
                          size_t bytes);
    /* The code of the index is not called any more. It may be on the stack
     * still, because the core calls this from the code itself; the space can be
     * used again from the next `compile`. */
    void (*clear)(void *self, uint32_t index);
};

/* Indices of functions are below this number. */
enum { CORE_FUNCTIONS = 900 };

/* Makes a core with this much RAM, in bytes, a multiple of 64 KiB; *host is
 * copied. Returns 0, -ENOMEM, -EINVAL for a bad size, -EBUSY for a second
 * core, or -EIO if the core has failed. */
int core_new(uint32_t ram_bytes, const struct core_host *host,
             OWN struct core **ret);
void core_free(struct core *core);

/* Turns on the core's own translation of hot code. *compiler is copied. Must be
 * called before the first core_run. */
void core_set_compiler(struct core *core, const struct core_compiler *compiler);
/* Drops all compiled functions: `clear` is called for each. */
void core_drop_code(struct core *core);

/* Runs for about a millisecond. Returns 0, with the milliseconds that the
 * processor has nothing to do, or -EIO if the core has failed. A core that has
 * failed keeps failing. */
int core_run(struct core *core, double *ret_idle_ms);
/* Returns the message of a failed core, or "". */
const char *core_error(const struct core *core);
/* Returns true if the guest has stopped the processor for ever: hlt with
 * interrupts disabled. */
bool core_is_halted(const struct core *core);
/* Returns the low 32 bits of the number of instructions executed. */
uint32_t core_instructions(const struct core *core);

void core_raise_irq(struct core *core, unsigned line);
void core_lower_irq(struct core *core, unsigned line);

/* Returns the RAM. After a device has changed bytes of it, core_dirty drops
 * code that was compiled from them; `end` is exclusive. */
uint8_t *core_ram(struct core *core);
uint32_t core_ram_bytes(const struct core *core);
void core_dirty(struct core *core, uint32_t start, uint32_t end);

/* Functions of the core that generated modules import, by name. Parameters and
 * result are the letters i, l, f, d (i32, i64, f32, f64); v is no result. The
 * C function has the instance as an additional first parameter. */
struct core_symbol {
    const char *name, *params;
    char result;
    void (*function)(void);
};

/* Returns NULL if the core has no function of that name. */
const struct core_symbol *core_find_symbol(const char *name, size_t len);

/* Returns the linear memory that generated modules import. It does not move,
 * and an access at any 32-bit address plus any offset below 2^32 is either
 * inside it or trapped. */
uint8_t *core_memory(struct core *core);

/* Ends the current call of the core as a trap of generated code. Does not
 * return. */
void core_trap(void);

#endif
