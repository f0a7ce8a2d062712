/* Ownership marks and scope cleanup, used in every folder. */
#ifndef BASE_OWN_H
#define BASE_OWN_H

/* On a parameter: the callee consumes it, even when it fails. On a result or a
 * ret_ parameter: the caller must put or free it. Without a mark it is
 * borrowed. */
#define OWN

/* Calls fn with a pointer to the variable when its scope ends, however that
 * happens. One variable per statement, and no goto in the same function. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

/* Returns p and sets it to NULL, so that its CLEANUP does nothing: ownership
 * moves to the receiver. */
#define STEAL(p)                     \
    ({                               \
        __typeof__(p) stolen_ = (p); \
        (p) = NULL;                  \
        stolen_;                     \
    })

/* Defines fn##p, the form of a destructor that CLEANUP expects. */
#define DEFINE_CLEANUP(type, fn)      \
    static inline void fn##p(type *p) \
    {                                 \
        if (*p)                       \
            fn(*p);                   \
    }

#endif
