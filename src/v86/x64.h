/* Machine code of x86-64, as bytes in three sections with labels.
 *
 * Instructions go to the current section. A jump may refer to a label that is
 * bound later, in any section. x64_link puts the sections one after the other
 * and fills in the distances; the result runs at any address.
 *
 * A lack of memory is remembered: further calls do nothing, and x64_link fails.
 * No function here depends on the processor that compiles it. */
#ifndef V86_X64_H
#define V86_X64_H

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x64_reg {
    X64_RAX,
    X64_RCX,
    X64_RDX,
    X64_RBX,
    X64_RSP,
    X64_RBP,
    X64_RSI,
    X64_RDI,
    X64_R8,
    X64_R9,
    X64_R10,
    X64_R11,
    X64_R12,
    X64_R13,
    X64_R14,
    X64_R15,
    X64_NO_REG,
};

/* Conditions, by their numbers in instructions. The opposite is `cc ^ 1`. */
enum x64_cc {
    X64_BELOW = 2,
    X64_ABOVE_EQUAL,
    X64_EQUAL,
    X64_NOT_EQUAL,
    X64_BELOW_EQUAL,
    X64_ABOVE,
    X64_LESS = 12,
    X64_GREATER_EQUAL,
    X64_LESS_EQUAL,
    X64_GREATER,
};

/* Opcodes; 0x0f.. have two bytes. `op reg, rm` unless stated otherwise. */
enum x64_opcode {
    X64_ADD = 0x03,
    X64_OR = 0x0b,
    X64_AND = 0x23,
    X64_SUB = 0x2b,
    X64_XOR = 0x33,
    X64_CMP = 0x3b,
    X64_MOVSXD = 0x63,
    X64_TEST = 0x85,
    X64_STORE8 = 0x88, /* op rm, reg */
    X64_STORE = 0x89,  /* op rm, reg */
    X64_MOV = 0x8b,
    X64_LEA = 0x8d,
    X64_SHIFT_CL = 0xd3,
    X64_GROUP3 = 0xf7,
    X64_MOVD_FROM_GPR = 0x0f6e,
    X64_MOVD_TO_GPR = 0x0f7e,
    X64_CMOV = 0x0f40, /* plus the condition */
    X64_SET = 0x0f90,  /* plus the condition; op rm */
    X64_IMUL = 0x0faf,
    X64_MOVZX8 = 0x0fb6,
    X64_MOVZX16 = 0x0fb7,
    X64_MOVSX8 = 0x0fbe,
    X64_MOVSX16 = 0x0fbf,
};

/* Extensions of the opcodes with an immediate value. */
enum x64_arith {
    X64_ARITH_ADD = 0,
    X64_ARITH_OR = 1,
    X64_ARITH_AND = 4,
    X64_ARITH_SUB = 5,
    X64_ARITH_XOR = 6,
    X64_ARITH_CMP = 7,
};

enum x64_shift {
    X64_ROL = 0,
    X64_ROR = 1,
    X64_SHL = 4,
    X64_SHR = 5,
    X64_SAR = 7,
};

/* Size of the operands: 32 bits without a flag. */
enum {
    X64_WIDE = 1, /* 64 bits */
    X64_HALF = 2, /* 16 bits, or the prefix 0x66 */
    X64_BYTE = 4, /* a register operand is its low byte */
};

/* The operand that may be in memory: at base + (index << scale) + disp. */
struct x64_rm {
    bool is_memory;
    uint8_t base, index, scale;
    int32_t disp;
};

static inline struct x64_rm
x64_reg(unsigned reg)
{
    return (struct x64_rm){.base = (uint8_t)reg, .index = X64_RSP};
}

/* RSP cannot be an index; its number says that there is none. */
static inline struct x64_rm
x64_at(unsigned base, int32_t disp)
{
    return (struct x64_rm){true, (uint8_t)base, X64_RSP, 0, disp};
}

enum x64_section { X64_HOT, X64_COLD, X64_DATA, X64_SECTIONS };

struct x64_bytes {
    uint8_t *p;
    size_t len, cap;
};

struct x64_label {
    bool is_bound;
    enum x64_section section;
    size_t offset;
};

struct x64_fixup;

struct x64 {
    struct x64_bytes sections[X64_SECTIONS];
    enum x64_section at; /* the current section */
    struct x64_label *labels;
    struct x64_fixup *fixups;
    size_t label_count, fixup_count;
    bool has_failed;
};

void x64_init(struct x64 *x);
void x64_fini(struct x64 *x);

void x64_op(struct x64 *x, unsigned op, unsigned flags, unsigned reg,
            struct x64_rm rm);
/* Arithmetic of rm and a constant, which is sign-extended to 64 bits. */
void x64_arith(struct x64 *x, enum x64_arith ext, unsigned flags,
               struct x64_rm rm, int32_t value);
void x64_test(struct x64 *x, unsigned reg, int32_t value);
void x64_shift(struct x64 *x, enum x64_shift ext, unsigned flags, unsigned reg,
               unsigned count);
/* Sets all 64 bits of a register. Does not change the flags. */
void x64_constant(struct x64 *x, unsigned reg, uint64_t value);
/* Stores a constant: 1, 2, 4 bytes, or 8 from a sign-extended value. */
void x64_store(struct x64 *x, unsigned bytes, struct x64_rm rm, int32_t value);
void x64_push(struct x64 *x, unsigned reg);
void x64_pop(struct x64 *x, unsigned reg);
void x64_return(struct x64 *x);

/* Returns a new label, which x64_bind puts at the current place. */
unsigned x64_label(struct x64 *x);
void x64_bind(struct x64 *x, unsigned label);
void x64_jump(struct x64 *x, unsigned label);
void x64_jump_if(struct x64 *x, unsigned cc, unsigned label);
void x64_jump_to(struct x64 *x, unsigned reg);
/* Calls the function whose address is the data at the label. */
void x64_call(struct x64 *x, unsigned label);
/* Loads the address of a label. */
void x64_address(struct x64 *x, unsigned reg, unsigned label);

/* Data; the current section must be X64_DATA. x64_distance appends the 32-bit
 * distance from the label `from` to the label `to`. */
void x64_data(struct x64 *x, uint64_t value);
void x64_distance(struct x64 *x, unsigned from, unsigned to);

/* Returns 0 with all sections in one piece, -ENOMEM, or -EINVAL if a label is
 * not bound. The data is aligned to 8 bytes within the piece. */
int x64_link(const struct x64 *x, OWN uint8_t **ret_code, size_t *ret_bytes);

#endif
