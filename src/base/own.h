/* Ownership marks and scope cleanup, used in every folder. */
#ifndef BASE_OWN_H
#define BASE_OWN_H

/* On a parameter: the callee consumes it, even when it fails. On a result or a
 * ret_ parameter: the caller must put or free it. Without a mark it is
 * borrowed. */
#define OWN

#define CLEANUP(fn) __attribute__((cleanup(fn)))

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
        fn(*p);                       \
    }

#endif
