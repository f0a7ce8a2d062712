/* What the native stacks of machines take. */
#include "../unit/test.h"
#include "fake_kernel.h"

#define NEXT "(import \"sys\" \"next\" (func $next (param i32) (result i32)))"
#define WAIT CALL1(3, "(i32.const 0)") "(call $wait)"
/* $deep(n) goes n calls down, and does `there` at its end. */
#define DEEP(there, entries)                                              \
    "(module " SYS_IMPORTS NEXT MEMORY                                    \
    "(func $deep (param i32) (result i32) (if (result i32) (local.get 0)" \
    " (then (i32.mul (local.get 0) (call $deep (i32.sub (local.get 0)"    \
    " (i32.const 1))))) (else " there " (i32.const 1))))" entries ")"
#define START(body) "(func (export \"_start\")" body ")"
#define GO(n)       "(drop (call $deep (i32.const " #n ")))"

enum {
    STEP = 64 << 10,
    FRAME_MIN = 16, /* what a call takes at least, and surely at most */
    FRAME_MAX = 128,
    CALLS = 100000,
};

static uint64_t
stack_of(struct fake *f)
{
    return engine_ops()->stack_bytes(f->machine);
}

static bool
is_deep(struct fake *f)
{
    uint64_t n = stack_of(f);

    return n >= CALLS * FRAME_MIN - 2 * STEP && n <= CALLS * FRAME_MAX + STEP &&
           n % STEP == 0;
}

TEST(stacks_that_are_not_deep_take_nothing)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e, PROGRAM(WAIT));
    CHECK_EQ(stack_of(&f), 0);
    CHECK_EQ(fake_run(&f), MACHINE_WAITS);
    CHECK_EQ(stack_of(&f), 0);
    fake_fini(&f);
    engine_free(e);
}

TEST(stacks_are_seen_in_all_slots)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f[4];

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++) {
            fake_open(&f[i], e,
                      i % 2 ? PROGRAM(WAIT) : DEEP(WAIT, START(GO(100000))));
            CHECK_EQ(fake_run(&f[i]), MACHINE_WAITS);
        }
        for (int i = 0; i < 4; i++)
            CHECK(i % 2 ? stack_of(&f[i]) == 0 : is_deep(&f[i]));
        for (int i = 0; i < 4; i++)
            fake_fini(&f[i]);
    }
    engine_free(e);
}

TEST(stacks_are_seen_without_a_call)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e, DEEP("(loop (br 0))", START(GO(100000))));
    while (!is_deep(&f))
        CHECK_EQ(fake_resume(&f), MACHINE_YIELDED);
    fake_fini(&f);
    engine_free(e);
}

TEST(stacks_that_have_gone_back_still_take_what_they_took)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e, DEEP("", START(GO(100000) WAIT)));
    CHECK_EQ(fake_run(&f), MACHINE_WAITS);
    CHECK(is_deep(&f));
    fake_fini(&f);
    /* The next one in this slot begins anew. */
    fake_open(&f, e, PROGRAM(WAIT));
    CHECK_EQ(fake_run(&f), MACHINE_WAITS);
    CHECK_EQ(stack_of(&f), 0);
    fake_fini(&f);
    engine_free(e);
}

TEST(stacks_are_given_up_in_next)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e,
              DEEP("(drop (call $next (i32.const 1)))",
                   START(GO(100000)) "(func (export \"wasmsand_resume\") " GO(
                       100000) ")"));
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(fake_run(&f), MACHINE_NEXT);
        CHECK_EQ(stack_of(&f), 0);
    }
    fake_fini(&f);
    engine_free(e);
}

TEST(stacks_of_any_size_are_seen)
{
    struct engine_options o = {.max_machines = 3,
                               .max_stack_bytes = (20 << 20) + 12345,
                               .compiles_in_process = true};
    struct engine *e;
    struct fake f[3];
    char why[200];

    CHECK_EQ(engine_new(&o, &e, why, sizeof why), 0);
    for (int i = 0; i < 3; i++) {
        fake_open(&f[i], e, DEEP(WAIT, START(GO(100000))));
        CHECK_EQ(fake_run(&f[i]), MACHINE_WAITS);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(is_deep(&f[i]));
        fake_fini(&f[i]);
    }
    engine_free(e);
}

TEST(stacks_are_seen_in_pools_of_any_size)
{
    for (uint32_t n = 1; n <= 5; n++) {
        struct engine *e = fake_engine(n, NULL);
        struct fake f[5];
        for (uint32_t i = 0; i < n; i++) {
            fake_open(&f[i], e, DEEP(WAIT, START(GO(100000))));
            CHECK_EQ(fake_run(&f[i]), MACHINE_WAITS);
        }
        for (uint32_t i = 0; i < n; i++) {
            CHECK(is_deep(&f[i]));
            fake_fini(&f[i]);
        }
        engine_free(e);
    }
}
