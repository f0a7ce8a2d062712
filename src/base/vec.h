/* Vectors that grow by doubling: a pointer and a count in the owner. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes space for one element after the first `n` of the vector v. Returns
 * false, and v is unchanged, if there is no memory.
 *
 * The capacity needs no field: it is at least the lowest power of two above
 * n - 1, because v was reallocated when the count last reached a power of two.
 * A vector from elsewhere (calloc, an exact copy) does not satisfy this. */
#define VEC_ROOM(v, n)                                                   \
    ({                                                                   \
        size_t n_ = (n);                                                 \
        bool has_ = n_ & (n_ - 1);                                       \
        __typeof__(v) v_ =                                               \
            has_ ? NULL : realloc((v), (n_ ? 2 * n_ : 1) * sizeof *(v)); \
        if (v_)                                                          \
            (v) = v_;                                                    \
        has_ || v_;                                                      \
    })

#endif
