/* Traps as the signals that Linux would send for the same mistake.
 *
 * A shell and the parent of a process then see the usual status, and the user
 * sees the usual message ("Segmentation fault"). */
#include "engine/traps.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call through a bad pointer is a jump to a bad address. A call through a
 * pointer to a function of another type ends as an undefined instruction, as in
 * native programs with control-flow checks. */
static const struct {
    wasmtime_trap_code_t code;
    int signal, si_code;
    const char *reason;
} traps[] = {
    {WASMTIME_TRAP_CODE_STACK_OVERFLOW, SIGSEGV, SEGV_MAPERR, "stack overflow"},
    {WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS, SIGSEGV, SEGV_MAPERR,
     "out of bounds memory access"},
    {WASMTIME_TRAP_CODE_HEAP_MISALIGNED, SIGBUS, BUS_ADRALN,
     "misaligned memory access"},
    {WASMTIME_TRAP_CODE_TABLE_OUT_OF_BOUNDS, SIGSEGV, SEGV_MAPERR,
     "call of an invalid function pointer"},
    {WASMTIME_TRAP_CODE_INDIRECT_CALL_TO_NULL, SIGSEGV, SEGV_MAPERR,
     "call of a null function pointer"},
    {WASMTIME_TRAP_CODE_NULL_REFERENCE, SIGSEGV, SEGV_MAPERR, "null reference"},
    {WASMTIME_TRAP_CODE_BAD_SIGNATURE, SIGILL, ILL_ILLOPN,
     "call of a function with another type"},
    {WASMTIME_TRAP_CODE_INTEGER_OVERFLOW, SIGFPE, FPE_INTOVF,
     "integer overflow"},
    {WASMTIME_TRAP_CODE_INTEGER_DIVISION_BY_ZERO, SIGFPE, FPE_INTDIV,
     "integer division by zero"},
    {WASMTIME_TRAP_CODE_BAD_CONVERSION_TO_INTEGER, SIGFPE, FPE_FLTINV,
     "floating-point number out of the range of integers"},
    {WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED, SIGILL, ILL_ILLOPN,
     "unreachable code reached"},
    {WASMTIME_TRAP_CODE_UNCAUGHT_EXCEPTION, SIGABRT, SI_KERNEL,
     "uncaught exception"},
    {WASMTIME_TRAP_CODE_ALLOCATION_TOO_LARGE, SIGKILL, SI_KERNEL,
     "no memory for an exception"},
};

/* Copies a message as one line: runs of white space become one blank. */
static void
traps_flatten(const wasm_name_t *text, char *buf, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < text->size && n + 1 < size; i++) {
        char c = text->data[i];
        if (!isspace((unsigned char)c))
            buf[n++] = c;
        else if (n && buf[n - 1] != ' ')
            buf[n++] = ' ';
    }
    if (size)
        buf[n] = 0;
}

/* Returns the address in guest memory of an access that was out of bounds, or
 * 0. wasmtime reports it only in its message. */
static gaddr
traps_addr(const wasm_trap_t *trap)
{
    static const char mark[] = "fault at wasm address ";
    char text[200];
    wasm_message_t message;

    wasm_trap_message(trap, &message);
    traps_flatten(&message, text, sizeof text);
    wasm_byte_vec_delete(&message);
    const char *at = strstr(text, mark);
    return at ? (gaddr)strtoull(at + sizeof mark - 1, NULL, 16) : 0;
}

static void
error_copy(const wasmtime_error_t *error, char *buf, size_t size)
{
    wasm_name_t text;

    wasmtime_error_message(error, &text);
    traps_flatten(&text, buf, size);
    wasm_byte_vec_delete(&text);
}

void
traps_error_text(OWN wasmtime_error_t *error, char *buf, size_t size)
{
    error_copy(error, buf, size);
    wasmtime_error_delete(error);
}

/* Describes an error that is no trap: an exception that nobody caught, or
 * something that wasmtime could not provide. */
static void
error_describe(const wasmtime_error_t *error, struct machine_trap *ret)
{
    error_copy(error, ret->reason, sizeof ret->reason);
    ret->signal = SIGKILL;
    if (!strstr(ret->reason, "thrown Wasm exception"))
        return;
    ret->signal = SIGABRT;
    (void)snprintf(ret->reason, sizeof ret->reason, "uncaught exception");
}

void
trap_describe(const wasm_trap_t *trap, const wasmtime_error_t *error,
              struct machine_trap *ret)
{
    wasmtime_trap_code_t code = UINT8_MAX;

    if (!trap) {
        error_describe(error, ret);
        return;
    }
    (void)wasmtime_trap_code(trap, &code);
    ret->signal = SIGKILL;
    ret->code = SI_KERNEL;
    (void)snprintf(ret->reason, sizeof ret->reason, "trap %d", code);
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++) {
        if (traps[i].code != code)
            continue;
        ret->signal = traps[i].signal;
        ret->code = traps[i].si_code;
        (void)snprintf(ret->reason, sizeof ret->reason, "%s", traps[i].reason);
    }
    if (code == WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS)
        ret->addr = traps_addr(trap);
}
