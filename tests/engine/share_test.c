/* Memory that machines share. */
#include "../unit/test.h"
#include "engine/engine.h"
#include "fake_kernel.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

enum { FIRST = 1 << 16, SIZE = 8 << 16, AT = 4 << 16, LEN = 3 * 4096 };

static const char plain[] =
    "(module (memory (export \"memory\") 1) (func (export \"_start\")))";

static void
machine_of_size(struct fake *f, struct engine *e, struct program *p,
                uint64_t size)
{
    int r;

    /* The reaper may still have the last machine. */
    while ((r = fake_init(f, e, p)) == -EAGAIN)
        sched_yield();
    CHECK_EQ(r, 0);
    CHECK_EQ(engine_ops()->prepare(f->machine), 0);
    CHECK_EQ(engine_ops()->grow(f->machine, size), 0);
}

static int
share(struct fake *f, uint8_t *bytes, uint64_t at, uint64_t len, int more)
{
    const struct machine_share s = {bytes, at, len};

    return engine_ops()->share(f->machine, &s, more);
}

static bool
is_zero(const uint8_t *p, size_t len)
{
    while (len && !*p)
        p++, len--;
    return len == 0;
}

TEST(shared_memory_is_the_same_in_two_machines)
{
    struct engine *e = fake_engine(2, NULL);
    struct program *p = fake_program(e, plain, false, NULL, 0);
    const struct machine_ops *ops = engine_ops();
    struct fake a, b;
    uint8_t *bytes;

    machine_of_size(&a, e, p, SIZE);
    machine_of_size(&b, e, p, SIZE);
    CHECK_EQ(ops->share_new(e, LEN, &bytes), 0);
    CHECK(is_zero(bytes, LEN));
    CHECK_EQ(share(&a, bytes, 0, LEN, 1), -EINVAL);
    CHECK_EQ(share(&a, bytes, SIZE - 4096, LEN, 1), -EINVAL);
    CHECK_EQ(share(&a, bytes, AT, LEN, 1), 0);
    CHECK_EQ(share(&b, bytes + 4096, FIRST, 4096, 1), 0);
    a.machine->base[AT + 4096] = 7;
    CHECK_EQ(b.machine->base[FIRST], 7);
    b.machine->base[FIRST + 1] = 8;
    CHECK_EQ(bytes[4097], 8);
    CHECK_EQ(share(&a, NULL, AT, LEN, -1), 0);
    CHECK(is_zero(a.machine->base + AT, LEN));
    CHECK_EQ(bytes[4096], 7);
    fake_fini(&a);
    fake_fini(&b);
    ops->share_free(e, bytes, LEN);
    program_put(p);
    engine_free(e);
}

/* In an engine with one machine, each has the memory of the one before it. */
static void
check_reuse(uint64_t size)
{
    struct engine *e = fake_engine(1, NULL);
    struct program *p = fake_program(e, plain, false, NULL, 0);
    const struct machine_ops *ops = engine_ops();
    uint8_t *bytes, *again;
    struct fake f;

    CHECK_EQ(ops->share_new(e, LEN, &bytes), 0);
    for (int i = 0; i < 4; i++) {
        machine_of_size(&f, e, p, size);
        CHECK(is_zero(f.machine->base, SIZE));
        CHECK_EQ(share(&f, bytes, AT, LEN, 1), 0);
        memset(f.machine->base, 5, SIZE);
        memset(bytes, 6, LEN);
        fake_fini(&f);
        CHECK_EQ(bytes[0], 6); /* clearing the memory spares what is shared */
    }
    ops->share_free(e, bytes, LEN);
    CHECK_EQ(ops->share_new(e, LEN, &again), 0);
    CHECK(is_zero(again, LEN));
    ops->share_free(e, again, LEN);
    program_put(p);
    engine_free(e);
}

TEST(shared_memory_leaves_nothing_for_the_next_machine)
{
    check_reuse(SIZE);
    check_reuse(UINT64_C(80) << 20); /* cleared by the reaper */
}

/* More blocks than those that keep their pages, of several sizes. */
TEST(shared_memory_is_zero_when_it_is_used_again)
{
    struct engine *e = fake_engine(1, NULL);
    const struct machine_ops *ops = engine_ops();
    uint8_t *v[100];

    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 100; i++) {
            CHECK_EQ(ops->share_new(e, (1 + i % 3) * 4096, &v[i]), 0);
            CHECK(is_zero(v[i], (1 + i % 3) * 4096));
            memset(v[i], 7, (1 + i % 3) * 4096);
        }
        for (uint64_t i = 0; i < 100; i++)
            ops->share_free(e, v[i], (1 + i % 3) * 4096);
    }
    engine_free(e);
}

TEST(shared_ranges_of_all_machines_are_limited)
{
    struct engine *e = fake_engine(2, NULL);
    struct program *p = fake_program(e, plain, false, NULL, 0);
    const struct machine_ops *ops = engine_ops();
    struct fake a, b;
    uint8_t *bytes;
    int n = 0;

    CHECK_EQ(ops->share_new(e, 4096, &bytes), 0);
    machine_of_size(&a, e, p, UINT64_C(256) << 20);
    machine_of_size(&b, e, p, SIZE);
    /* Every other page, so that the ranges stay apart. */
    while (n < 30000 &&
           share(&a, bytes, FIRST + (uint64_t)n * 8192, 4096, 1) == 0)
        n++;
    CHECK(n > 10000 && n < 30000);
    CHECK_EQ(share(&b, bytes, AT, 4096, 1), -ENOMEM);
    CHECK(is_zero(b.machine->base + AT, 4096));
    fake_fini(&a);
    CHECK_EQ(share(&b, bytes, AT, 4096, 1), 0);
    fake_fini(&b);
    ops->share_free(e, bytes, 4096);
    CHECK_EQ(ops->share_new(e, UINT64_C(5) << 30, &bytes), -ENOMEM);
    program_put(p);
    engine_free(e);
}
