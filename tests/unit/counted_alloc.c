/* An allocator that counts live objects and fails on demand. The linker wraps
 * it around the code under test. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

static _Atomic long live; /* tests may have threads */
static long countdown;
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

long
test_live_objects(void)
{
    return live;
}
