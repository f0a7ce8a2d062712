/* SPDX-License-Identifier: MIT */
#include "ffi.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX_ARGS = 6 };

#define TYPE(name, id, c_type)                                      \
    ffi_type ffi_type_##name = {.size = sizeof(c_type),             \
                                .alignment = _Alignof(c_type),      \
                                .type = FFI_TYPE_##id}

ffi_type ffi_type_void = {.size = 1, .alignment = 1, .type = FFI_TYPE_VOID};
TYPE(float, FLOAT, float);
TYPE(double, DOUBLE, double);
TYPE(longdouble, LONGDOUBLE, long double);
TYPE(uint8, UINT8, uint8_t);
TYPE(sint8, SINT8, int8_t);
TYPE(uint16, UINT16, uint16_t);
TYPE(sint16, SINT16, int16_t);
TYPE(uint32, UINT32, uint32_t);
TYPE(sint32, SINT32, int32_t);
TYPE(uint64, UINT64, uint64_t);
TYPE(sint64, SINT64, int64_t);
TYPE(pointer, POINTER, void *);

static bool
is_word(const ffi_type *type)
{
    switch (type->type) {
    case FFI_TYPE_UINT8:
    case FFI_TYPE_SINT8:
    case FFI_TYPE_UINT16:
    case FFI_TYPE_SINT16:
    case FFI_TYPE_UINT32:
    case FFI_TYPE_SINT32:
    case FFI_TYPE_POINTER:
        return true;
    default:
        return false;
    }
}

ffi_status
ffi_prep_cif(ffi_cif *cif, ffi_abi abi, unsigned nargs, ffi_type *rtype,
             ffi_type **arg_types)
{
    *cif =
        (ffi_cif){.nargs = nargs, .arg_types = arg_types, .rtype = rtype};
    if (nargs > MAX_ARGS || (rtype != &ffi_type_void && !is_word(rtype)))
        return FFI_BAD_TYPEDEF;
    for (unsigned i = 0; i < nargs; i++)
        if (!is_word(arg_types[i]))
            return FFI_BAD_TYPEDEF;
    return FFI_OK;
}

static uint32_t
get_word(const ffi_type *type, const void *value)
{
    switch (type->type) {
    case FFI_TYPE_UINT8:
        return *(const uint8_t *)value;
    case FFI_TYPE_SINT8:
        return (uint32_t) * (const int8_t *)value;
    case FFI_TYPE_UINT16:
        return *(const uint16_t *)value;
    case FFI_TYPE_SINT16:
        return (uint32_t) * (const int16_t *)value;
    default:
        return *(const uint32_t *)value;
    }
}

#define W uint32_t

/* Calls f, which returns `type`, with the first n of a. */
#define CALL(type, f, n, a)                                                    \
    ((n) == 0   ? ((type(*)(void))(f))()                                       \
     : (n) == 1 ? ((type(*)(W))(f))((a)[0])                                    \
     : (n) == 2 ? ((type(*)(W, W))(f))((a)[0], (a)[1])                         \
     : (n) == 3 ? ((type(*)(W, W, W))(f))((a)[0], (a)[1], (a)[2])              \
     : (n) == 4 ? ((type(*)(W, W, W, W))(f))((a)[0], (a)[1], (a)[2], (a)[3])   \
     : (n) == 5 ? ((type(*)(W, W, W, W, W))(f))((a)[0], (a)[1], (a)[2],        \
                                                (a)[3], (a)[4])                \
                : ((type(*)(W, W, W, W, W, W))(f))((a)[0], (a)[1], (a)[2],     \
                                                   (a)[3], (a)[4], (a)[5]))

void
ffi_call(ffi_cif *cif, void *function, void *result, void **args)
{
    uint32_t words[MAX_ARGS] = {0};

    for (unsigned i = 0; i < cif->nargs; i++)
        words[i] = get_word(cif->arg_types[i], args[i]);
    if (cif->rtype == &ffi_type_void)
        CALL(void, function, cif->nargs, words);
    else
        *(uint32_t *)result = CALL(uint32_t, function, cif->nargs, words);
}

void *
ffi_closure_alloc(size_t size, void **ret_code)
{
    return *ret_code = malloc(size);
}

void
ffi_closure_free(void *closure)
{
    free(closure);
}

ffi_status
ffi_prep_closure(ffi_closure *closure, ffi_cif *cif,
                 void (*function)(ffi_cif *, void *, void **, void *),
                 void *arg)
{
    return FFI_BAD_ABI;
}
