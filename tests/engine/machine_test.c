#include "fake_kernel.h"

#include "../unit/test.h"
#include "engine/engine_impl.h"
#include "engine/pagemap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* 0 where the address sanitizer holds freed memory back. */
static long
rss_kib(void)
{
    long pages = 0, unused;

#if !defined(__SANITIZE_ADDRESS__)
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%ld %ld", &unused, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
#else
    (void)unused;
#endif
    return pages * 4;
}

/* Runs wat to its first event that is no end of a slice. */
static enum machine_event
event_of(const char *wat, struct fake *f)
{
    struct engine *e = fake_engine(4, NULL);

    fake_open(f, e, wat);
    enum machine_event event = fake_run(f);
    fake_fini(f);
    engine_free(e);
    return event;
}

TEST(start_returns_to_the_kernel)
{
    struct fake f;

    CHECK_EQ(event_of(PROGRAM(""), &f), MACHINE_ENDED);
}

TEST(call_passes_six_arguments_and_the_result)
{
    struct fake f;

    event_of(PROGRAM("(drop (call $call (i32.const 2) (call $call"
                     " (i32.const 99) (i32.const 1) (i32.const 20)"
                     " (i32.const 300) (i32.const 4000) (i32.const 50000)"
                     " (i32.const 600000)) (i32.const 0) (i32.const 0)"
                     " (i32.const 0) (i32.const 0) (i32.const 0)))"),
             &f);
    CHECK_EQ(f.n_log, 1);
    CHECK_EQ(f.log[0], 654321);
}

TEST(leaving_in_a_call_ends_the_machine)
{
    struct fake f;

    CHECK_EQ(
        event_of(PROGRAM(CALL1(1, "(i32.const 7)") CALL1(2, "(i32.const 1)")),
                 &f),
        MACHINE_LEFT);
    CHECK_EQ(f.status, 7);
    CHECK_EQ(f.n_log, 0);
}

TEST(wait_suspends_until_woken)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e,
              PROGRAM(CALL1(3, "(i32.const 0)") "(call $wait)" CALL1(
                  2, "(i32.const 5)")));
    CHECK_EQ(fake_run(&f), MACHINE_WAITS);
    CHECK_EQ(fake_run(&f), MACHINE_WAITS);
    CHECK_EQ(f.n_log, 0);
    f.must_wait = false;
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(f.n_log, 1);
    fake_fini(&f);
    engine_free(e);
}

TEST(wait_goes_on_at_once_when_ready)
{
    struct fake f;

    CHECK_EQ(event_of(PROGRAM("(call $wait)"), &f), MACHINE_ENDED);
    CHECK_EQ(f.waits, 1);
}

TEST(a_tight_loop_gives_way)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e, PROGRAM("(loop (br 0))"));
    for (int i = 0; i < 20; i++)
        CHECK_EQ(fake_resume(&f), MACHINE_YIELDED);
    fake_fini(&f);
    engine_free(e);
}

TEST(slices_go_on_after_the_ticker_has_parked)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e, PROGRAM("(loop (br 0))"));
    while (!e->ticker.is_parked)
        usleep(1000);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(fake_resume(&f), MACHINE_YIELDED);
    while (!e->ticker.is_parked)
        usleep(1000);
    fake_fini(&f);
    engine_free(e);
}

static void *
interrupt_run(void *arg)
{
    struct engine *e = arg;

    while (!e->ticker.stops) {
        engine_ops()->interrupt(e);
        usleep(100);
    }
    return NULL;
}

TEST(interrupt_ends_a_slice_from_another_thread)
{
    struct engine_options o = {
        .max_machines = 4, .tick_us = 3600000000, .compiles_in_process = true};
    struct engine *e;
    pthread_t other;
    struct fake f;
    char why[100];

    CHECK_EQ(engine_new(&o, &e, why, sizeof why), 0);
    fake_open(&f, e, PROGRAM("(loop (br 0))"));
    CHECK_EQ(pthread_create(&other, NULL, interrupt_run, e), 0);
    for (int i = 0; i < 10; i++) /* or it would take hours */
        CHECK_EQ(fake_resume(&f), MACHINE_YIELDED);
    fake_fini(&f);
    e->ticker.stops = true;
    pthread_join(other, NULL);
    engine_free(e);
}

/* --- killing */

#define DEEP(body)                                                            \
    "(module " SYS_IMPORTS MEMORY "(func $deep (param i32) (if (local.get 0)" \
    " (then (call $deep (i32.sub (local.get 0) (i32.const 1))))"              \
    " (else " body ")))"                                                      \
    "(func (export \"_start\") (call $deep (i32.const 2000))))"

TEST(a_machine_can_be_freed_wherever_it_is)
{
    static const char *const programs[] = {
        PROGRAM(CALL1(3, "(i32.const 0)") "(call $wait)"),
        PROGRAM("(loop (br 0))"),
        DEEP(CALL1(3, "(i32.const 0)") "(call $wait)"),
        DEEP("(loop (br 0))"),
        PROGRAM("unreachable"),
        PROGRAM(""),
    };
    struct engine *e = fake_engine(4, NULL);

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct fake f;
        fake_open(&f, e, programs[i]);
        fake_fini(&f); /* never run */
        fake_open(&f, e, programs[i]);
        (void)fake_resume(&f);
        fake_fini(&f);
    }
    CHECK_EQ(engine_machines(e), 0);
    engine_free(e);
}

TEST(thousands_of_kills_leave_nothing)
{
    struct engine *e = fake_engine(4, NULL);
    struct program *p = fake_program(
        e, DEEP(CALL1(3, "(i32.const 0)") "(call $wait)"), false, NULL, 0);
    long before = 0;

    for (int i = 0; i < 2000; i++) {
        struct fake f;
        CHECK_EQ(fake_init(&f, e, p), 0);
        CHECK_EQ(fake_run(&f), MACHINE_WAITS);
        fake_fini(&f);
        if (i == 200)
            before = rss_kib();
    }
    CHECK(rss_kib() - before < 2048);
    program_put(p);
    engine_free(e);
}

TEST(a_full_pool_refuses)
{
    struct engine *e = fake_engine(3, NULL);
    struct program *p = fake_program(
        e, PROGRAM(CALL1(3, "(i32.const 0)") "(call $wait)"), false, NULL, 0);
    struct fake f[4];

    CHECK_EQ(engine_max_machines(e), 3);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(fake_init(&f[i], e, p), 0);
        CHECK_EQ(fake_run(&f[i]), MACHINE_WAITS);
    }
    CHECK_EQ(fake_init(&f[3], e, p), -EAGAIN);
    fake_fini(&f[0]);
    CHECK_EQ(fake_init(&f[3], e, p), 0);
    CHECK_EQ(fake_run(&f[3]), MACHINE_WAITS);
    for (int i = 1; i < 4; i++)
        fake_fini(&f[i]);
    program_put(p);
    engine_free(e);
}

TEST(a_large_machine_is_freed_aside)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e,
              PROGRAM("(drop (memory.grow (i32.const 2000)))"
                      "(memory.fill (i32.const 0) (i32.const 1)"
                      " (i32.const 100000000))"));
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    fake_fini(&f);
    while (engine_machines(e))
        usleep(1000);
    engine_free(e);
}

/* --- memory */

TEST(growth_is_asked_for_and_refused)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e,
              PROGRAM(CALL1(2, "(memory.grow (i32.const 3))")
                          CALL1(2, "(memory.grow (i32.const 1000))")
                              CALL1(2, "(memory.size)")));
    f.memory_limit = 64 << 16;
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(f.log[0], 1);
    CHECK_EQ(f.log[1], -1);
    CHECK_EQ(f.log[2], 4);
    CHECK_EQ(f.memory, 4 << 16);
    engine_ops()->refresh(f.machine);
    CHECK_EQ(f.machine->size, 4 << 16);
    fake_fini(&f);
    engine_free(e);
}

/* In an engine with one machine at a time, each has the memory of one before
 * it. Most of the file is never looked at. */
static void
check_mapped_in(OWN struct engine *e, uint64_t before)
{
    const struct machine_ops *ops = engine_ops();
    struct program *p = fake_program(e, PROGRAM(""), false, NULL, 0);
    const uint64_t first = 1 << 16, size = 64 << 16, at = 32 << 16;
    static uint8_t zero[64 << 16], content[1 << 20];
    struct fake f;
    int hfd = memfd_create("content", MFD_CLOEXEC);

    memset(content, 3, sizeof content);
    CHECK_EQ(write(hfd, content, sizeof content), sizeof content);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(fake_init(&f, e, p), 0);
        CHECK_EQ(ops->prepare(f.machine), 0);
        CHECK_EQ(ops->map(f.machine, hfd, 0, 4096), -EINVAL);
        CHECK_EQ(ops->map(f.machine, hfd, first, 4096), -EINVAL);
        CHECK_EQ(ops->grow(f.machine, size), 0);
        CHECK_EQ(ops->map(f.machine, hfd, size - 4096, 8192), -EINVAL);
        CHECK(!memcmp(f.machine->base + at, zero, sizeof content));
        CHECK_EQ(ops->map(f.machine, hfd, at, sizeof content), 0);
        CHECK_EQ(ops->map(f.machine, hfd, at, sizeof content), -EINVAL);
        CHECK(!memcmp(f.machine->base + at, content, 8192));
        CHECK(!memcmp(f.machine->base + at + sizeof content, zero, 4096));
        memset(f.machine->base + first, 7, before);
        memset(f.machine->base + at + 4000, 9, 200);
        memset(f.machine->base + size - 10, 9, 10);
        fake_fini(&f);
    }
    CHECK_EQ(pread(hfd, content, sizeof content, 0), sizeof content);
    CHECK_EQ(content[4000], 3);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(fake_init(&f, e, p), 0);
        CHECK_EQ(ops->prepare(f.machine), 0);
        CHECK_EQ(ops->grow(f.machine, size), 0);
        CHECK(!memcmp(f.machine->base, zero, size));
        fake_fini(&f);
    }
    close(hfd);
    program_put(p);
    engine_free(e);
}

TEST(memory_from_a_file_is_the_machines_own_and_leaves_nothing)
{
    check_mapped_in(fake_engine(1, NULL), 8192);
    check_mapped_in(fake_engine(1, NULL), 1 << 20);
}

TEST(memory_from_a_file_where_the_host_does_not_tell_written_pages)
{
    struct engine *e = fake_engine(1, NULL);

    pagemap_fini(&e->pagemap);
    check_mapped_in(e, 8192);
}

TEST(no_room_for_the_initial_memory_kills)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e, PROGRAM(""));
    f.memory_limit = 100;
    CHECK_EQ(fake_run(&f), MACHINE_TRAPPED);
    CHECK_EQ(f.trap.signal, SIGKILL);
    CHECK(strstr(f.trap.reason, "memory") != NULL);
    fake_fini(&f);
    engine_free(e);
}

TEST(tables_do_not_grow_without_end)
{
    struct fake f;

    CHECK_EQ(event_of("(module " SYS_IMPORTS MEMORY "(table $t 1 funcref)"
                      "(func (export \"_start\")" CALL1(
                          2, "(table.grow $t (ref.null func)"
                             " (i32.const 1000))")
                          CALL1(2, "(table.grow $t (ref.null func)"
                                   " (i32.const 100000))") "))",
                      &f),
             MACHINE_ENDED);
    CHECK_EQ(f.log[0], 1);
    CHECK_EQ(f.log[1], -1);
}

/* --- traps */

static void
check_trap(const char *wat, int sig, const char *reason)
{
    struct fake f;

    CHECK_EQ(event_of(wat, &f), MACHINE_TRAPPED);
    CHECK_EQ(f.trap.signal, sig);
    CHECK(!strcmp(f.trap.reason, reason));
}

#define TABLE_PROGRAM(index)                                          \
    "(module " MEMORY "(type $t (func (param i32)))(table 4 funcref)" \
    "(elem (i32.const 1) $f)(func $f)(func (export \"_start\")"       \
    "(call_indirect (type $t) (i32.const 0) (i32.const " #index "))))"

TEST(traps_become_signals)
{
    check_trap(PROGRAM("(drop (i32.load (i32.const 100000)))"), SIGSEGV,
               "out of bounds memory access");
    check_trap(PROGRAM("unreachable"), SIGILL, "unreachable code reached");
    check_trap(PROGRAM("(drop (i32.div_s (i32.const 1) (i32.const 0)))"),
               SIGFPE, "integer division by zero");
    check_trap(PROGRAM("(drop (i32.div_s (i32.const 0x80000000)"
                       " (i32.const -1)))"),
               SIGFPE, "integer overflow");
    check_trap(PROGRAM("(drop (i32.trunc_f32_s (f32.const nan)))"), SIGFPE,
               "floating-point number out of the range of integers");
    check_trap("(module " MEMORY
               "(func $f (export \"_start\") (call $f) (call $f)))",
               SIGSEGV, "stack overflow");
    check_trap(TABLE_PROGRAM(0), SIGSEGV, "call of a null function pointer");
    check_trap(TABLE_PROGRAM(1), SIGILL,
               "call of a function with another type");
    check_trap(TABLE_PROGRAM(9), SIGSEGV,
               "call of an invalid function pointer");
    check_trap("(module " MEMORY "(tag $t)(func (export \"_start\")"
               " (throw $t)))",
               SIGABRT, "uncaught exception");
}

TEST(a_data_segment_outside_of_memory_is_a_trap)
{
    check_trap("(module " MEMORY "(data (i32.const 65535) \"ab\")"
               "(func (export \"_start\")))",
               SIGSEGV, "out of bounds memory access");
}

/* --- features */

TEST(exceptions_are_caught_and_collected)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e,
              "(module " MEMORY "(tag $t)(func (export \"_start\")"
              " (local $i i32)"
              " (loop $l (block $h (try_table (catch $t $h) (throw $t)))"
              " (local.set $i (i32.add (local.get $i) (i32.const 1)))"
              " (br_if $l (i32.lt_u (local.get $i) (i32.const 100000))))))");
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK(f.memory < 1 << 20);
    fake_fini(&f);
    engine_free(e);
}

TEST(simd_works_on_the_baseline_processor)
{
    struct fake f;

    event_of(PROGRAM(CALL1(
                 2, "(i32x4.extract_lane 2 (i32x4.add (i32x4.mul"
                    " (v128.const i32x4 1 2 3 4) (i32x4.splat (i32.const 7)))"
                    " (i8x16.swizzle (v128.const i8x16 0 1 2 3 4 5 6 7 8 9 10"
                    " 11 12 13 14 15) (v128.const i8x16 0 0 0 0 0 0 0 0 4 16"
                    " 16 16 0 0 0 0))))")),
             &f);
    CHECK_EQ(f.log[0], 25);
}

TEST(a_start_function_can_make_calls)
{
    struct fake f;

    CHECK_EQ(
        event_of(
            "(module " SYS_IMPORTS MEMORY "(data (i32.const 9) \"z\")"
            "(start $s)(func $s" CALL1(
                2,
                "(call $call (i32.const 4) (i32.const 9)"
                " (i32.const 0) (i32.const 0) (i32.const 0)"
                " (i32.const 0) (i32.const 0))") ")"
                                                 "(func (export "
                                                 "\"_start\")" CALL1(
                                                     2, "(i32.const 2)") "))",
            &f),
        MACHINE_ENDED);
    CHECK_EQ(f.n_log, 2);
    CHECK_EQ(f.log[0], 'z');
}

TEST(a_start_function_that_spins_gives_way)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e,
              "(module " MEMORY "(start $s)(func $s (loop (br 0)))"
              "(func (export \"_start\")))");
    for (int i = 0; i < 3; i++)
        CHECK_EQ(fake_resume(&f), MACHINE_YIELDED);
    fake_fini(&f);
    engine_free(e);
}

TEST(next_gives_the_machine_up_and_comes_back_elsewhere)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(
        &f, e,
        "(module " SYS_IMPORTS
        "(import \"sys\" \"next\" (func $next (param i32) (result i32)))" MEMORY
        "(func (export \"wasmsand_resume\")" CALL1(
            2, "(i32.const 8)") "(drop (call $next (i32.const 4))))"
                                "(func (export \"_start\") (drop (call $next "
                                "(i32.const 3)))"
                                "unreachable))");
    CHECK_EQ(fake_run(&f), MACHINE_NEXT);
    CHECK_EQ(f.machine->status, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(fake_run(&f), MACHINE_NEXT);
        CHECK_EQ(f.machine->status, 4);
    }
    CHECK_EQ(f.n_log, 3);
    fake_fini(&f);
    engine_free(e);
}

TEST(arguments_and_signals_reach_the_kernel)
{
    struct fake f;

    event_of(
        "(module " SYS_IMPORTS
        "(import \"sys\" \"args_size\" (func $size (result i32)))"
        "(import \"sys\" \"args_get\" (func $get (param i32 i32)))"
        "(import \"sys\" \"sigword\" (func $word (param i32)))"
        "(import \"sys\" \"signext\" (func $nextsig (param i32)"
        " (result i32)))" MEMORY "(func (export \"_start\")"
        "(call $get (i32.const 100) (call $size))"
        "(call $word (i32.const 200))" CALL1(2, "(i32.load8_u (i32.const 115))")
            CALL1(2, "(i32.load8_u (i32.const 116))")
                CALL1(2, "(i32.load (i32.const 200))")
                    CALL1(2, "(call $nextsig (i32.const 300))") "))",
        &f);
    CHECK_EQ(f.log[0], 'a');
    CHECK_EQ(f.log[1], 0);
    CHECK_EQ(f.log[2], 1);
    CHECK_EQ(f.log[3], 301);
}

TEST(a_thread_that_a_signal_ends_goes_no_further)
{
    struct fake f;

    CHECK_EQ(event_of("(module " SYS_IMPORTS
                      "(import \"sys\" \"signext\" (func $nextsig (param i32)"
                      " (result i32)))" MEMORY "(func (export \"_start\")"
                      "(drop (call $nextsig (i32.const 400)))" CALL1(
                          2, "(i32.const 1)") "))",
                      &f),
             MACHINE_LEFT);
    CHECK_EQ(f.n_log, 0);
}

/* --- threads */

#define BUSY                                                                 \
    PROGRAM(                                                                 \
        "(memory.fill (i32.const 0) (i32.const 1) (i32.const 60000))" CALL1( \
            3, "(i32.const 0)") "(call $wait)" CALL1(1, "(i32.const 3)"))

/* A kernel of its own; returns how many machines went wrong. */
static void *
kernel_run_many(void *arg)
{
    struct engine *e = arg;
    intptr_t wrong = 0;

    for (int i = 0; i < 300; i++) {
        struct program *p = fake_program(e, BUSY, false, NULL, 0);
        struct fake f;
        wrong += !p || fake_init(&f, e, p) < 0;
        wrong += fake_run(&f) != MACHINE_WAITS;
        f.must_wait = false;
        wrong += i % 2 && fake_run(&f) != MACHINE_LEFT;
        fake_fini(&f);
        program_put(p);
    }
    return (void *)wrong;
}

TEST(kernels_on_several_threads_share_an_engine)
{
    struct engine *e = fake_engine(4, NULL);
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, kernel_run_many, e), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        CHECK(!wrong);
    }
    CHECK_EQ(engine_machines(e), 0);
    engine_free(e);
}

TEST(without_a_ticker_nothing_runs)
{
    struct engine *e = fake_engine(1, NULL);
    pthread_attr_t usual, absurd;
    struct fake f;

    fake_open(&f, e, PROGRAM("(loop (br 0))"));
    CHECK_EQ(pthread_getattr_default_np(&usual), 0);
    CHECK_EQ(pthread_attr_init(&absurd), 0);
    CHECK_EQ(pthread_attr_setstacksize(&absurd, (size_t)1 << 48), 0);
    CHECK_EQ(pthread_setattr_default_np(&absurd), 0);
    CHECK_EQ(fake_resume(&f), MACHINE_TRAPPED);
    CHECK_EQ(f.trap.signal, SIGKILL);
    CHECK_EQ(pthread_setattr_default_np(&usual), 0);
    fake_fini(&f);

    fake_open(&f, e, PROGRAM(""));
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    fake_fini(&f);
    engine_free(e);
}
