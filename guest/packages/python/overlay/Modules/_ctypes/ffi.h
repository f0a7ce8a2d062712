/* SPDX-License-Identifier: MIT */
/* The part of libffi's interface that _ctypes uses: descriptions of types, and
 * calls of functions whose arguments and result have 32 bits.
 *
 * A WebAssembly module cannot make functions at run time, nor call one through
 * a type that it does not know: there are no callbacks and no other calls. */
#ifndef WASMSAND_FFI_H
#define WASMSAND_FFI_H

#include <stddef.h>

enum {
    FFI_TYPE_VOID,
    FFI_TYPE_INT,
    FFI_TYPE_FLOAT,
    FFI_TYPE_DOUBLE,
    FFI_TYPE_LONGDOUBLE,
    FFI_TYPE_UINT8,
    FFI_TYPE_SINT8,
    FFI_TYPE_UINT16,
    FFI_TYPE_SINT16,
    FFI_TYPE_UINT32,
    FFI_TYPE_SINT32,
    FFI_TYPE_UINT64,
    FFI_TYPE_SINT64,
    FFI_TYPE_STRUCT,
    FFI_TYPE_POINTER,
};

typedef struct _ffi_type {
    size_t size;
    unsigned short alignment, type;
    struct _ffi_type **elements;
} ffi_type;

extern ffi_type ffi_type_void, ffi_type_float, ffi_type_double,
    ffi_type_longdouble, ffi_type_uint8, ffi_type_sint8, ffi_type_uint16,
    ffi_type_sint16, ffi_type_uint32, ffi_type_sint32, ffi_type_uint64,
    ffi_type_sint64, ffi_type_pointer;

#define ffi_type_uchar  ffi_type_uint8
#define ffi_type_schar  ffi_type_sint8
#define ffi_type_ushort ffi_type_uint16
#define ffi_type_sshort ffi_type_sint16
#define ffi_type_uint   ffi_type_uint32
#define ffi_type_sint   ffi_type_sint32
#define ffi_type_ulong  ffi_type_uint32
#define ffi_type_slong  ffi_type_sint32

typedef enum { FFI_DEFAULT_ABI } ffi_abi;
typedef enum { FFI_OK, FFI_BAD_TYPEDEF, FFI_BAD_ABI } ffi_status;
typedef unsigned long ffi_arg;

typedef struct {
    unsigned nargs;
    ffi_type **arg_types, *rtype;
} ffi_cif;

typedef struct {
    void *unused;
} ffi_closure;

/* FFI_BAD_TYPEDEF: ffi_call cannot make this call. */
ffi_status ffi_prep_cif(ffi_cif *cif, ffi_abi abi, unsigned nargs,
                        ffi_type *rtype, ffi_type **arg_types);
void ffi_call(ffi_cif *cif, void *function, void *result, void **args);

void *ffi_closure_alloc(size_t size, void **ret_code);
void ffi_closure_free(void *closure);
/* Always FFI_BAD_ABI. */
ffi_status ffi_prep_closure(ffi_closure *closure, ffi_cif *cif,
                            void (*function)(ffi_cif *, void *, void **,
                                             void *),
                            void *arg);

#endif
