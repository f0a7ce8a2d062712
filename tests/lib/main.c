/* Runs all registered tests of the library. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct test *tests;
static long failures;

void
test_register(struct test *t)
{
    t->next = tests;
    tests = t;
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

int
main(int argc, char **argv)
{
    int passed = 0, failed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    umask(022);
    for (struct test *t = tests; t; t = t->next) {
        if (argc > 1 && !strstr(t->file, argv[1]) && !strstr(t->name, argv[1]))
            continue;
        failures = 0;
        t->run();
        if (failures)
            printf("FAIL %s %s\n", t->file, t->name);
        passed += !failures;
        failed += failures != 0;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}
