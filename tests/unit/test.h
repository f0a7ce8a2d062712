/* Unit tests: TEST(name_says_the_behaviour) { CHECK(...); }. All tests are
 * linked into one binary, which counts live allocations after each. */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stdint.h>

struct test {
    const char *file, *name;
    void (*run)(void);
    struct test *next;
};

void test_register(struct test *t);
void test_failed(const char *file, int line, const char *what);
void test_failed_eq(const char *file, int line, const char *what, int64_t got,
                    int64_t want);
void test_skip(const char *why);

/* Allocations of the code under test that were not freed yet. */
long test_live_objects(void);

/* The nth allocation from now fails (0: none); true if one has failed. */
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

/* Runs the body with the 1st, 2nd, ... allocation failing until none fails;
 * in the body `oom` says which. */
#define EACH_OOM(oom)                                 \
    for (long oom = 1; test_fail_alloc(oom), oom > 0; \
         oom = test_alloc_failed() ? oom + 1 : -1)
#endif
