/* The engine alone, over a kernel that does nothing: what a call, a switch and
 * a whole process cost, and that 100,000 kills leave nothing behind. */
#include "../../tests/engine/fake_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static long
rss_kib(void)
{
    long pages = 0, unused;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f || fscanf(f, "%ld %ld", &unused, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * 4;
}

#define LOOP(count, body)                                                    \
    "(module " SYS_IMPORTS MEMORY "(func (export \"_start\") (local $i i32)" \
    "(loop $l " body "(br_if $l (i32.lt_u (local.tee $i (i32.add"            \
    " (local.get $i) (i32.const 1))) (i32.const " #count ")))))"             \
    ")"

static void
row(const char *what, double best, double median, const char *unit)
{
    printf("%-44s %8.1f / %8.1f %s\n", what, best, median, unit);
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Runs `once` n times; it does `each` things of which the cost is wanted. */
static void
measure(const char *what, void (*once)(void *), void *arg, size_t n,
        double each, const char *unit, double scale)
{
    double *v = calloc(n, sizeof *v);

    for (size_t i = 0; v && i < n; i++) {
        int64_t start = now_ns();
        once(arg);
        v[i] = (double)(now_ns() - start) / each / scale;
    }
    if (!v)
        return;
    qsort(v, n, sizeof *v, compare);
    row(what, v[0], v[n / 2], unit);
    free(v);
}

struct subject {
    struct engine *engine;
    struct program *program;
};

static void
run_once(void *arg)
{
    struct subject *s = arg;
    struct fake f;

    if (fake_init(&f, s->engine, s->program) < 0)
        abort();
    while (fake_run(&f) == MACHINE_WAITS)
        f.must_wait = false;
    fake_fini(&f);
}

static void
kill_once(void *arg)
{
    struct subject *s = arg;
    struct fake f;

    if (fake_init(&f, s->engine, s->program) < 0 ||
        fake_run(&f) != MACHINE_WAITS)
        abort();
    fake_fini(&f);
}

static void
bench(struct engine *e, const char *what, const char *wat, double each,
      void (*once)(void *), size_t n, const char *unit, double scale)
{
    struct subject s = {e, fake_program(e, wat, false, NULL, 0)};

    if (!s.program)
        abort();
    for (int i = 0; i < 20; i++)
        once(&s);
    measure(what, once, &s, n, each, unit, scale);
    program_put(s.program);
}

static void
kills(struct engine *e, const char *wat, int count)
{
    struct subject s = {e, fake_program(e, wat, false, NULL, 0)};
    long before = 0;

    for (int i = 0; i < count; i++) {
        kill_once(&s);
        if (i == count / 100)
            before = rss_kib();
    }
    printf("%d kills: RSS %ld KiB before, %ld KiB after\n", count, before,
           rss_kib());
    program_put(s.program);
}

#define DEEP                                                                  \
    "(module " SYS_IMPORTS MEMORY "(func $deep (param i32) (if (local.get 0)" \
    " (then (call $deep (i32.sub (local.get 0) (i32.const 1))))"              \
    " (else " CALL1(3, "(i32.const 0)") "(call $wait))))"                     \
                                        "(func (export \"_start\") (call "    \
                                        "$deep (i32.const 20))))"

int
main(int argc, char **argv)
{
    struct engine *e = fake_engine(64, NULL);
    int count = argc > 1 ? atoi(argv[1]) : 100000;

    printf("%-44s %8s / %8s\n", "engine alone", "best", "median");
    bench(e, "a call", LOOP(1000000, CALL1(20, "(i32.const 1)")), 1e6, run_once,
          20, "ns", 1);
    bench(e, "the least import",
          "(module (import \"sys\" \"args_size\" (func $f (result i32)))" MEMORY
          "(func (export \"_start\") (local $i i32) (loop $l (drop (call $f))"
          "(br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i)"
          " (i32.const 1))) (i32.const 1000000))))))",
          1e6, run_once, 20, "ns", 1);
    bench(e, "wait that suspends, and resume",
          LOOP(100000, CALL1(3, "(i32.const 0)") "(call $wait)"), 1e5, run_once,
          20, "ns", 1);
    bench(e, "wait that need not suspend", LOOP(100000, "(call $wait)"), 1e5,
          run_once, 20, "ns", 1);
    bench(e, "create, run, return, free", PROGRAM(""), 1, run_once, 20000, "us",
          1000);
    bench(e, "create, run, leave in a call, free",
          PROGRAM(CALL1(1, "(i32.const 0)")), 1, run_once, 20000, "us", 1000);
    bench(e, "the same, 16 pages written",
          LOOP(16, "(i32.store8 (i32.mul (local.get $i) (i32.const 4096))"
                   " (i32.const 1))"),
          1, run_once, 20000, "us", 1000);
    bench(e, "create, run 20 frames deep, kill", DEEP, 1, kill_once, 20000,
          "us", 1000);
    kills(e, DEEP, count);
    engine_free(e);
    return 0;
}
