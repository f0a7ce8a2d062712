/* Runs all registered unit tests; the linker wraps the allocator so that
 * leaks are counted and failures injected. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct test *tests;
static _Atomic long live; /* tests may have threads */
static long countdown, failures;
static bool alloc_failed;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t m);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t a, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t m);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t a, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void __wrap_free(void *p);

static bool
fails_now(void)
{
    if (countdown <= 0 || --countdown > 0)
        return false;
    alloc_failed = true;
    return true;
}

static void *
counted(void *p)
{
    live += p != NULL;
    return p;
}

void *
__wrap_malloc(size_t n)
{
    return fails_now() ? NULL : counted(__real_malloc(n));
}

void *
__wrap_calloc(size_t n, size_t m)
{
    return fails_now() ? NULL : counted(__real_calloc(n, m));
}

void *
__wrap_realloc(void *p, size_t n)
{
    if (fails_now())
        return NULL;
    void *q = __real_realloc(p, n);
    live += !p && q;
    return q;
}

void *
__wrap_aligned_alloc(size_t a, size_t n)
{
    return fails_now() ? NULL : counted(__real_aligned_alloc(a, n));
}

char *
__wrap_strndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *p = __wrap_malloc(len + 1);
    if (!p)
        return NULL;
    memcpy(p, s, len);
    p[len] = 0;
    return p;
}

char *
__wrap_strdup(const char *s)
{
    return __wrap_strndup(s, strlen(s));
}

void
__wrap_free(void *p)
{
    live -= p != NULL;
    __real_free(p);
}

void
test_register(struct test *t)
{
    t->next = tests;
    tests = t;
}

void
test_fail_alloc(long nth)
{
    countdown = nth;
    alloc_failed = false;
}

bool
test_alloc_failed(void)
{
    countdown = 0;
    return alloc_failed;
}

void
test_failed(const char *file, int line, const char *what)
{
    failures++;
    printf("  %s:%d: not true: %s\n", file, line, what);
}

void
test_failed_eq(const char *file, int line, const char *what, int64_t got,
               int64_t want)
{
    failures++;
    printf("  %s:%d: %s is %lld, not %lld\n", file, line, what, (long long)got,
           (long long)want);
}

static bool
test_passes(struct test *t)
{
    long before = live;

    failures = 0;
    test_fail_alloc(0);
    t->run();
    if (live != before)
        test_failed_eq(t->file, 0, "live objects", live, before);
    if (failures)
        printf("FAIL %s %s\n", t->file, t->name);
    return !failures;
}

int
main(int argc, char **argv)
{
    int passed = 0, failed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    umask(022);
    for (struct test *t = tests; t; t = t->next) {
        if (argc > 1 && !strstr(t->file, argv[1]) && !strstr(t->name, argv[1]))
            continue;
        if (test_passes(t))
            passed++;
        else
            failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}
