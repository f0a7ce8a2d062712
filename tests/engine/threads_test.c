/* Several machines in one instance: the threads of a process. */
#include "fake_kernel.h"

#include "../unit/test.h"
#include "engine/engine_impl.h"

#include <errno.h>

/* `func` chooses what a thread does with `arg`. */
enum { LOG_STACK = 0, SPIN, TRAP, HOLD, THROW, STORE };

/* clang-format would put each word of the module on its own line. */
/* clang-format off */
#define THREADS                                                               \
    "(module " SYS_IMPORTS MEMORY "(tag $t (param i32))"                      \
    "(global $sp (export \"__stack_pointer\") (mut i32) (i32.const 4096))"    \
    /* LOG_STACK: its stack pointer, changed by arg, before and after a wait */ \
    "(func $log_stack (param i32)"                                            \
    " (global.set $sp (i32.sub (global.get $sp) (local.get 0)))"              \
    CALL1(2, "(global.get $sp)") CALL1(3, "(i32.const 0)") "(call $wait)"     \
    CALL1(2, "(global.get $sp)") ")"                                          \
    /* SPIN: counts at 8 until the word at 12 is set */                       \
    "(func $spin (param i32) (loop $l (i32.store (local.get 0) (i32.add"      \
    " (i32.load (local.get 0)) (i32.const 1)))"                               \
    " (br_if $l (i32.eqz (i32.load (i32.const 12))))))"                       \
    "(func $trap (param i32) (unreachable))"                                  \
    /* HOLD: an exception with arg, across a wait */                          \
    "(func $hold (param i32) (local $e exnref)"                               \
    " (block $h (result exnref)"                                              \
    "  (try_table (catch_all_ref $h) (throw $t (local.get 0))) unreachable)"  \
    " (local.set $e)" CALL1(3, "(i32.const 0)") "(call $wait)"                \
    " (block $c (result i32)"                                                 \
    "  (try_table (catch $t $c) (throw_ref (local.get $e))) unreachable)"     \
    " (local.set 0)" CALL1(2, "(local.get 0)") ")"                            \
    /* THROW: that many exceptions */                                         \
    "(func $throw (param $n i32) (loop $l"                                    \
    " (block $c (result i32)"                                                 \
    "  (try_table (catch $t $c) (throw $t (local.get $n))) unreachable) drop" \
    " (local.set $n (i32.sub (local.get $n) (i32.const 1)))"                  \
    " (br_if $l (local.get $n))))"                                            \
    "(func $store (param i32) (i32.store (i32.const 12) (local.get 0)))"      \
    "(type $f (func (param i32)))"                                            \
    "(table funcref (elem $log_stack $spin $trap $hold $throw $store))"       \
    "(func (export \"wasmsand_thread\") (param i32 i32)"                      \
    " (call_indirect (type $f) (local.get 1) (local.get 0)))"                 \
    "(func (export \"_start\")" CALL1(3, "(i32.const 0)") "(call $wait)"      \
    CALL1(2, "(global.get $sp)") "))"
/* clang-format on */

/* A process whose first thread waits in _start. */
static void
first_thread(struct fake *f, struct engine *e)
{
    fake_open(f, e, THREADS);
    CHECK_EQ(fake_run(f), MACHINE_WAITS);
}

static int
further_thread(struct fake *f, struct fake *first, uint32_t func, uint32_t arg,
               uint32_t stack)
{
    const struct machine_entry entry = {func, arg, stack};

    *f = (struct fake){.engine = first->engine, .memory_limit = UINT64_MAX};
    return engine_ops()->spawn(first->machine, &f->thread, &entry, &f->machine);
}

static uint32_t
word_at(struct fake *f, uint32_t at)
{
    uint32_t v;

    memcpy(&v, f->machine->base + at, sizeof v);
    return v;
}

TEST(a_program_without_the_entry_has_no_threads)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f, t;

    fake_open(&f, e, PROGRAM(CALL1(3, "(i32.const 0)") "(call $wait)"));
    CHECK_EQ(fake_run(&f), MACHINE_WAITS);
    CHECK_EQ(further_thread(&t, &f, SPIN, 8, 0), -ENOSYS);
    fake_fini(&f);
    engine_free(e);
}

TEST(threads_have_stack_pointers_of_their_own)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f, a, b;

    first_thread(&f, e);
    CHECK_EQ(further_thread(&a, &f, LOG_STACK, 16, 2000), 0);
    CHECK_EQ(further_thread(&b, &f, LOG_STACK, 32, 3001), 0);
    CHECK_EQ(fake_run(&a), MACHINE_WAITS);
    CHECK_EQ(fake_run(&b), MACHINE_WAITS);
    a.must_wait = b.must_wait = f.must_wait = false;
    CHECK_EQ(fake_run(&a), MACHINE_ENDED);
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(fake_run(&b), MACHINE_ENDED);
    CHECK_EQ(a.log[0], 1984);
    CHECK_EQ(a.log[1], 1984);
    CHECK_EQ(b.log[0], 2992 - 32); /* a multiple of 16 */
    CHECK_EQ(b.log[1], 2992 - 32);
    CHECK_EQ(f.log[0], 4096);
    fake_fini(&a);
    fake_fini(&b);
    fake_fini(&f);
    CHECK_EQ(engine_machines(e), 0);
    engine_free(e);
}

TEST(threads_share_memory_and_take_turns)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f, a, b, c;

    first_thread(&f, e);
    CHECK_EQ(further_thread(&a, &f, SPIN, 16, 2000), 0);
    CHECK_EQ(further_thread(&b, &f, SPIN, 20, 3000), 0);
    for (int i = 0; i < 5; i++) {
        uint32_t before = word_at(&f, 16);
        CHECK_EQ(fake_resume(&a), MACHINE_YIELDED);
        CHECK(word_at(&f, 16) > before);
        CHECK_EQ(fake_resume(&b), MACHINE_YIELDED);
    }
    CHECK_EQ(further_thread(&c, &f, STORE, 1, 3500), 0);
    CHECK_EQ(fake_run(&c), MACHINE_ENDED);
    CHECK_EQ(fake_run(&a), MACHINE_ENDED);
    CHECK_EQ(fake_run(&b), MACHINE_ENDED);
    fake_fini(&c);
    fake_fini(&a);
    fake_fini(&b);
    fake_fini(&f);
    engine_free(e);
}

TEST(threads_can_be_freed_in_any_order)
{
    struct engine *e = fake_engine(4, NULL);

    for (int order = 0; order < 3; order++) {
        struct fake f, a, b;
        first_thread(&f, e);
        CHECK_EQ(further_thread(&a, &f, SPIN, 16, 2000), 0);
        CHECK_EQ(further_thread(&b, &f, LOG_STACK, 16, 3000), 0);
        CHECK_EQ(fake_resume(&a), MACHINE_YIELDED);
        CHECK_EQ(fake_run(&b), MACHINE_WAITS);
        struct fake *v[3] = {&f, &a, &b};
        fake_fini(v[order]);
        struct fake *rest = v[(order + 1) % 3];
        rest->must_wait = false;
        (void)fake_resume(rest); /* the others go on */
        fake_fini(v[(order + 2) % 3]);
        fake_fini(rest);
        CHECK_EQ(engine_machines(e), 0);
    }
    engine_free(e);
}

TEST(a_trap_ends_one_thread_and_the_kernel_decides)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f, a, b;

    first_thread(&f, e);
    CHECK_EQ(further_thread(&a, &f, LOG_STACK, 16, 2000), 0);
    CHECK_EQ(fake_run(&a), MACHINE_WAITS);
    CHECK_EQ(further_thread(&b, &f, TRAP, 0, 3000), 0);
    CHECK_EQ(fake_run(&b), MACHINE_TRAPPED);
    fake_fini(&b);
    a.must_wait = false;
    CHECK_EQ(fake_run(&a), MACHINE_ENDED);
    CHECK_EQ(a.log[1], 1984);
    fake_fini(&a);
    fake_fini(&f);
    engine_free(e);
}

TEST(threads_count_as_machines)
{
    struct engine *e = fake_engine(3, NULL);
    struct fake f, a, b, c;

    first_thread(&f, e);
    CHECK_EQ(further_thread(&a, &f, SPIN, 16, 2000), 0);
    CHECK_EQ(further_thread(&b, &f, SPIN, 20, 3000), 0);
    CHECK_EQ(further_thread(&c, &f, SPIN, 24, 3500), -EAGAIN);
    fake_fini(&a);
    CHECK_EQ(further_thread(&c, &f, SPIN, 24, 3500), 0);
    CHECK_EQ(fake_resume(&c), MACHINE_YIELDED);
    fake_fini(&f);
    fake_fini(&b);
    fake_fini(&c);
    CHECK_EQ(engine_machines(e), 0);
    engine_free(e);
}

/* Without the edit of wasmtime, the collector does not see the exception on the
 * suspended stack, and its memory gets another one. */
TEST(an_exception_of_a_suspended_thread_survives_collections)
{
    struct engine *e = fake_engine(8, NULL);
    struct fake f, holders[4], thrower;

    first_thread(&f, e);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(further_thread(&holders[i], &f, HOLD, 4242 + (uint32_t)i,
                                1024u * (uint32_t)(i + 1)),
                 0);
        CHECK_EQ(fake_run(&holders[i]), MACHINE_WAITS);
    }
    CHECK_EQ(further_thread(&thrower, &f, THROW, 300000, 6000), 0);
    CHECK_EQ(fake_run(&thrower), MACHINE_ENDED);
    fake_fini(&thrower);
    for (int i = 0; i < 4; i++) {
        holders[i].must_wait = false;
        CHECK_EQ(fake_run(&holders[i]), MACHINE_ENDED);
        CHECK_EQ(holders[i].log[0], 4242 + i);
        fake_fini(&holders[i]);
    }
    fake_fini(&f);
    engine_free(e);
}

TEST(a_counted_slice_ends_after_the_same_work)
{
    struct engine *e = fake_engine(4, NULL);
    uint32_t counts[2];

    for (int i = 0; i < 2; i++) {
        struct fake f, a;
        first_thread(&f, e);
        CHECK_EQ(further_thread(&a, &f, SPIN, 16, 2000), 0);
        for (int slices = 0; slices < 50;) {
            a.machine->is_counted = true;
            CHECK_EQ(fake_resume(&a), MACHINE_YIELDED);
            slices += a.machine->slice_is_over;
        }
        counts[i] = word_at(&f, 16);
        fake_fini(&a);
        fake_fini(&f);
    }
    CHECK(counts[0] > 0);
    CHECK_EQ(counts[0], counts[1]);
    engine_free(e);
}
