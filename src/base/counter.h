/* Numbers that one thread changes while other threads may read them.
 *
 * Relaxed atomic loads and stores: a reader sees some value that was current,
 * never a torn one. Additions are not atomic, which is why only one thread may
 * change a counter. */
#ifndef BASE_COUNTER_H
#define BASE_COUNTER_H

#define COUNTER_GET(c)    __atomic_load_n(&(c), __ATOMIC_RELAXED)
#define COUNTER_SET(c, v) __atomic_store_n(&(c), v, __ATOMIC_RELAXED)
#define COUNTER_ADD(c, n) COUNTER_SET(c, (c) + (n))
#define COUNTER_SUB(c, n) COUNTER_SET(c, (c) - (n))

#endif
