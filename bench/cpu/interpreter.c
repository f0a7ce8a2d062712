/* A byte-code interpreter in a loop. */
#include "kernels.h"

enum op { PUSH, ADD, MUL, XOR, LOAD, STORE, LESS, JUMP_IF, HALT };

/* s = i = 0; do { s = s * 31 ^ i; i += 1; } while (i < 60000); */
static const uint32_t code[] = {
    LOAD, 0,    PUSH,  31,   MUL,     LOAD, 1,     XOR, STORE,
    0,    LOAD, 1,     PUSH, 1,       ADD,  STORE, 1,   LOAD,
    1,    PUSH, 60000, LESS, JUMP_IF, 0,    HALT,
};

static uint32_t
interpret(const uint32_t *program, uint32_t *variables)
{
    uint32_t stack[16], *sp = stack;
    const uint32_t *pc = program;

    for (;;)
        switch (*pc++) {
        case PUSH:
            *sp++ = *pc++;
            break;
        case ADD:
            sp--;
            sp[-1] += *sp;
            break;
        case MUL:
            sp--;
            sp[-1] *= *sp;
            break;
        case XOR:
            sp--;
            sp[-1] ^= *sp;
            break;
        case LOAD:
            *sp++ = variables[*pc++];
            break;
        case STORE:
            variables[*pc++] = *--sp;
            break;
        case LESS:
            sp--;
            sp[-1] = sp[-1] < *sp;
            break;
        case JUMP_IF:
            pc = *--sp ? program + *pc : pc + 1;
            break;
        default:
            return variables[0];
        }
}

uint32_t
kernel_interpreter(void)
{
    uint32_t variables[2] = {0};

    return interpret(code, variables);
}
