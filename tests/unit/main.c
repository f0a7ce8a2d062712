/* Runs all registered tests, or those whose file or name contains the argument.
 * Ends with `N passed, N failed`; a skipped test is in neither number. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum outcome {
    PASSED,
    FAILED,
    SKIPPED,
    OUTCOMES,
};

static struct test *tests;
static long failures;
static const char *skip_reason;

void
test_register(struct test *t)
{
    t->next = tests;
    tests = t;
}

void
test_skip(const char *why)
{
    skip_reason = why;
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

static enum outcome
test_run(struct test *t)
{
    long before = test_live_objects();

    failures = 0;
    skip_reason = NULL;
    test_fail_alloc(0);
    t->run();
    if (test_live_objects() != before)
        test_failed_eq(t->file, 0, "live objects", test_live_objects(), before);
    if (failures)
        printf("FAIL %s %s\n", t->file, t->name);
    else if (skip_reason)
        printf("skip %s %s: %s\n", t->file, t->name, skip_reason);
    return failures ? FAILED : skip_reason ? SKIPPED : PASSED;
}

int
main(int argc, char **argv)
{
    int count[OUTCOMES] = {0};

    setvbuf(stdout, NULL, _IOLBF, 0);
    umask(022);
    for (struct test *t = tests; t; t = t->next) {
        if (argc > 1 && !strstr(t->file, argv[1]) && !strstr(t->name, argv[1]))
            continue;
        count[test_run(t)]++;
    }
    if (count[SKIPPED])
        printf("%d skipped\n", count[SKIPPED]);
    printf("%d passed, %d failed\n", count[PASSED], count[FAILED]);
    return count[FAILED] || !(count[PASSED] || count[SKIPPED]);
}
