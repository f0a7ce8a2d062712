/* Unit tests: TEST(name_says_the_behaviour) { CHECK(...); }.
 *
 * All tests are linked into one binary, which counts live allocations after
 * each of them: a test that leaves one fails. `build/unit NAME` runs those
 * whose file or name contains NAME. */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stdint.h>

struct test {
    const char *file, *name;
    void (*run)(void);
    struct test *next;
};

/* For the macros below. */
void test_register(struct test *t);
void test_failed(const char *file, int line, const char *what);
void test_failed_eq(const char *file, int line, const char *what, int64_t got,
                    int64_t want);
void test_skip(const char *why);

/* Returns the number of allocations of the code under test that were not freed
 * yet. */
long test_live_objects(void);

/* Makes the nth allocation from now fail (0: none). test_alloc_failed returns
 * true if it did. */
void test_fail_alloc(long nth);
bool test_alloc_failed(void);

#define TEST(name)                                                 \
    static void name(void);                                        \
    __attribute__((constructor)) static void register_##name(void) \
    {                                                              \
        static struct test t = {__FILE__, #name, name, 0};         \
        test_register(&t);                                         \
    }                                                              \
    static void name(void)

/* Ends the test: it is listed and counted as skipped, not as passed. */
#define SKIP(why)       \
    do {                \
        test_skip(why); \
        return;         \
    } while (0)

#define CHECK(cond) ((cond) ? (void)0 : test_failed(__FILE__, __LINE__, #cond))
#define CHECK_EQ(got, want)                                        \
    do {                                                           \
        int64_t got_ = (int64_t)(got), want_ = (int64_t)(want);    \
        if (got_ != want_)                                         \
            test_failed_eq(__FILE__, __LINE__, #got, got_, want_); \
    } while (0)

/* Runs the body again and again, with the 1st, 2nd, ... allocation failing,
 * until none fails. In the body, `oom` is the number of the one that fails. */
#define EACH_OOM(oom)                                 \
    for (long oom = 1; test_fail_alloc(oom), oom > 0; \
         oom = test_alloc_failed() ? oom + 1 : -1)
#endif
