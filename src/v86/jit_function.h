/* The translation of one function from WebAssembly to x86-64.
 *
 * This is a baseline compiler: one pass, instruction by instruction. Operands
 * of WebAssembly's stack are descriptions (struct jit_value) for as long as
 * possible: constants, locals, and registers are used where the instruction
 * that pops them is translated.
 *
 * RBX is the address of linear memory. The locals with the most uses have
 * registers of their own, the others are in the frame. Results are in
 * JIT_TEMPS. RCX is free for short sequences. A register or a place in the
 * frame that contains an i32 or f32 has zeros in its upper half, so that any
 * i32 can be an index. The frame, from RSP: the instance, locals, operands.
 *
 * At each label, all operands are in the frame, at the place of their depth, or
 * are constants. Control flow can therefore join without moves. */
#ifndef V86_JIT_FUNCTION_H
#define V86_JIT_FUNCTION_H

#include "v86/jit_module.h"
#include "v86/x64.h"

enum {
    JIT_LOCALS_MAX = 64,
    JIT_DEPTH_MAX = 64,
    JIT_NESTING_MAX = 4096,
};

enum jit_kind {
    JIT_UNKNOWN,  /* code that cannot be reached; type 0 is any type */
    JIT_CONSTANT, /* number */
    JIT_LOCAL,    /* the value of the local `number` */
    JIT_REG,      /* reg << scale, which has at most `bits` bits */
    JIT_SLOT,     /* in the frame, at the depth `number` */
    JIT_FLAGS,    /* 1 if the condition `number` is true, otherwise 0 */
};

struct jit_value {
    enum jit_kind kind;
    char type;
    uint8_t reg, scale, bits;
    int64_t number;
};

/* A block, loop or if that is open. Its operands begin at the depth `base`. */
struct jit_block {
    uint8_t opcode;
    char result;
    /* is_outlined: the rest of the block is in the section X64_COLD. */
    bool has_else, is_outlined, was_unreachable;
    unsigned base, label, else_label;
};

/* Immediate values of an instruction: an index, a constant or the offset of an
 * address; the result of a block. */
struct jit_immediates {
    int64_t number;
    char result;
};

struct jit_function {
    const struct jit_module *module;
    struct jit_reader code;
    struct x64 x;
    const char *error; /* NULL, or why the function is refused */

    char local_types[JIT_LOCALS_MAX];
    uint8_t local_regs[JIT_LOCALS_MAX]; /* or X64_NO_REG */
    unsigned local_count;

    struct jit_value stack[JIT_DEPTH_MAX];
    unsigned depth;
    unsigned busy; /* bits of JIT_TEMPS that contain a value */

    struct jit_block blocks[JIT_NESTING_MAX];
    unsigned block_count;
    bool is_unreachable;

    /* Labels of the addresses of imported functions and of the trap, and of the
     * code that traps. */
    unsigned import_labels[JIT_IMPORTS_MAX], trap_label, trap_code;

    struct jit_immediates now; /* of the current instruction */
};

enum jit_immediate {
    JIT_NONE,
    JIT_INDEX,
    JIT_BLOCK,
    JIT_TABLE, /* the handler reads it */
    JIT_I32,
    JIT_I64,
    JIT_MEMORY_1,
    JIT_MEMORY_2,
    JIT_MEMORY_4,
    JIT_MEMORY_8,
};

struct jit_op;
typedef void jit_handler(struct jit_function *f, const struct jit_op *op);

struct jit_op {
    jit_handler *handler;
    const char *params; /* NULL for OTHER */
    char result;
    uint8_t immediate;
    uint16_t arg;
    uint8_t flags;
};

#define JIT_DECLARE(opcode, name, immediate, handler, ...) jit_handler handler;
#define OTHER                                              JIT_DECLARE
#define FIXED                                              JIT_DECLARE
#include "v86/jit_ops.def"
#undef OTHER
#undef FIXED

/* Returns the row of an opcode; its handler is NULL if there is none. */
const struct jit_op *jit_op_find(uint8_t opcode);
/* Reads the immediate values of an instruction, except of JIT_TABLE. */
struct jit_immediates jit_op_read(struct jit_reader *r,
                                  const struct jit_op *op);

/* Refuses the function, and stops its translation. */
void jit_refuse(struct jit_function *f, const char *why);

/* Translates the function of a module. Returns NULL, with the code in f->x, or
 * the reason of a refusal. `memory` is the address of linear memory, and `trap`
 * a function that does not return. The caller initialises f->x. */
const char *jit_function_translate(struct jit_function *f,
                                   const struct jit_module *module,
                                   const void *memory, void (*trap)(void));

/* --- operands: jit_stack.c --- */

enum {
    JIT_MEMORY = X64_RBX,
    JIT_SCRATCH = X64_RCX,
    JIT_TEMPS = 1 << X64_RAX | 1 << X64_RDX | 1 << X64_RSI | 1 << X64_RDI |
                1 << X64_R11,
    /* Registers of locals that a called function may change. */
    JIT_VOLATILE_LOCALS = 1 << X64_R8 | 1 << X64_R9 | 1 << X64_R10,
};

/* Returns the place in the frame of the instance, a local, an operand. */
struct x64_rm jit_frame_instance(void);
struct x64_rm jit_frame_local(unsigned local);
struct x64_rm jit_frame_slot(const struct jit_function *f, unsigned depth);
/* Bytes of the frame, below six pushed registers. */
int32_t jit_frame_bytes(const struct jit_function *f);

/* Returns X64_WIDE for the 64-bit types, otherwise 0. */
unsigned jit_type_flags(char type);

void jit_push(struct jit_function *f, struct jit_value v);
void jit_push_reg(struct jit_function *f, char type, unsigned reg);
/* Pops an operand. The caller has checked that there is one, and releases its
 * register. */
struct jit_value jit_pop(struct jit_function *f);
/* Checks that an operand of the type (0: of any type) is on top of the current
 * block, and pops it. In code that cannot be reached there is always one. */
struct jit_value jit_pop_type(struct jit_function *f, char type);
/* Checks that operands of these types are on top of the current block. */
bool jit_check_operands(struct jit_function *f, const char *params);
/* Drops operands above a depth. */
void jit_truncate(struct jit_function *f, unsigned depth);

/* Returns a register without a value. May move an operand to the frame. Does
 * not change flags; nor does any other function here but jit_unflag. */
unsigned jit_alloc(struct jit_function *f);
void jit_release(struct jit_function *f, unsigned reg);
/* Returns a register with the value, which the caller does not change. */
unsigned jit_read(struct jit_function *f, struct jit_value v);
/* Returns a register with the value, which the caller may change. */
unsigned jit_own(struct jit_function *f, struct jit_value v);
/* Returns the value as an operand in a register or in the frame. */
struct x64_rm jit_operand(struct jit_function *f, struct jit_value v);
/* Puts the value into a register, or into the frame at a depth. */
void jit_move(struct jit_function *f, unsigned reg, struct jit_value v);
void jit_save(struct jit_function *f, unsigned depth, struct jit_value v);

/* Moves operands in registers to the frame; jit_flush also those that are
 * locals. */
void jit_spill(struct jit_function *f);
void jit_flush(struct jit_function *f);
/* Makes operands independent of a local, which is about to change. */
void jit_detach(struct jit_function *f, unsigned local);
/* Turns a condition on top of the stack into a number. */
void jit_unflag(struct jit_function *f);

/* Returns the next opcode, without reading it, or 0. */
uint8_t jit_next(const struct jit_function *f);
/* Returns true if the next instruction only checks whether the result of the
 * current one is zero. */
bool jit_next_is_test(const struct jit_function *f);
/* Results. The register is that of a local if the next instruction sets that
 * local, which saves a move; jit_result then skips this instruction.
 *
 * jit_target returns a register with the value `v`, which the result replaces;
 * the operand `other` is still needed. jit_place returns a register for a
 * result that an instruction makes of `rm` alone, and releases those of rm. */
unsigned jit_target(struct jit_function *f, char type, struct jit_value v,
                    struct jit_value other);
unsigned jit_place(struct jit_function *f, char type, struct x64_rm rm);
/* Pushes a result of at most `bits` bits. */
void jit_result(struct jit_function *f, char type, unsigned reg, unsigned bits);

/* --- control flow: jit_control.c --- */

/* Opens the block of the function itself. */
void jit_open(struct jit_function *f, uint8_t opcode, char result);
/* Translates the comparison of two conditions if that is what follows the one
 * on top of the stack, and returns true. */
bool jit_fuse_branch(struct jit_function *f);

#endif
