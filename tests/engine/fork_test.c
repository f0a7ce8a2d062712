#include "fake_kernel.h"

#include "engine/engine_impl.h"
#include "engine/pagemap.h"

#include "../unit/test.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What asyncify makes of `n = 5; r = fork(); log(r); log(n)`: frames go to the
 * buffer when the state is 1 and come back from it when it is 2. The stack
 * pointer is 64 KiB, the buffer is where BUFFER says. */
#define FORKER(buffer, rest)                                                 \
    "(module " SYS_IMPORTS                                                   \
    "(import \"sys\" \"fork\" (func $fork (result i32)))"                    \
    "(memory (export \"memory\") 3)"                                         \
    "(data (i32.const 70000) \"image\")"                                     \
    "(global $state (export \"__asyncify_state\") (mut i32) (i32.const 0))"  \
    "(global $data (export \"__asyncify_data\") (mut i32) (i32.const 0))"    \
    "(global $sp (export \"__stack_pointer\") (mut i32) (i32.const "         \
    "65536))" buffer "(func $push (param i32)"                               \
    " (if (i32.gt_u (i32.add (i32.load (global.get $data)) (i32.const 4))"   \
    "  (i32.load offset=4 (global.get $data))) (then unreachable))"          \
    " (i32.store (i32.load (global.get $data)) (local.get 0))"               \
    " (i32.store (global.get $data)"                                         \
    "  (i32.add (i32.load (global.get $data)) (i32.const 4))))"              \
    "(func $pop (result i32)"                                                \
    " (i32.store (global.get $data)"                                         \
    "  (i32.sub (i32.load (global.get $data)) (i32.const 4)))"               \
    " (i32.load (i32.load (global.get $data))))"                             \
    "(func (export \"_start\") (local $n i32) (local $r i32)"                \
    " (if (i32.eq (global.get $state) (i32.const 2))"                        \
    "  (then (local.set $n (call $pop)))"                                    \
    "  (else (local.set $n (i32.const 5)) " rest "))"                        \
    " (local.set $r (call $fork))"                                           \
    " (if (i32.eq (global.get $state) (i32.const 1))"                        \
    "  (then (call $push (local.get $n)) (return)))" CALL1(2,                \
                                                           "(local.get $r)") \
        CALL1(2, "(local.get $n)") CALL1(2, "(i32.load (i32.const 70000))")  \
            CALL1(2, "(i32.load (i32.const 100000))") CALL1(                 \
                2, "(i32.load8_u (i32.sub (memory.size) (memory.size)))")    \
                CALL1(2, "(memory.size)") CALL1(2, "(global.get $sp)") "))"

#define HIGH_BUFFER                                                 \
    "(global (export \"__asyncify_buffer\") i32 (i32.const 80000))" \
    "(global (export \"__asyncify_buffer_end\") i32 (i32.const 81000))"
#define TINY_BUFFER                                                 \
    "(global (export \"__asyncify_buffer\") i32 (i32.const 80000))" \
    "(global (export \"__asyncify_buffer_end\") i32 (i32.const 80008))"
/* Changes the image, the zeros after it, the size and the stack pointer. */
#define CHANGES                                    \
    "(i32.store (i32.const 70000) (i32.const 7))"  \
    "(i32.store (i32.const 100000) (i32.const 8))" \
    "(drop (memory.grow (i32.const 2)))"           \
    "(i32.store (i32.const 300000) (i32.const 9))" \
    "(global.set $sp (i32.const 65000))"

enum { PATTERN = 0x5a };

static int
pattern_file(uint64_t len)
{
    int hfd = memfd_create("pattern", MFD_CLOEXEC);

    CHECK_EQ(ftruncate(hfd, (off_t)len), 0);
    uint8_t *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, hfd, 0);
    CHECK(p != MAP_FAILED);
    memset(p, PATTERN, len);
    CHECK_EQ(munmap(p, len), 0);
    return hfd;
}

static void
check_child_in(OWN struct engine *e, const char *wat)
{
    struct program *p = fake_program(e, wat, false, NULL, 0);
    const struct machine_ops *ops = engine_ops();
    struct fake parent, child;

    CHECK_EQ(fake_init(&parent, e, p), 0);
    CHECK_EQ(fake_init(&child, e, p), 0);
    CHECK_EQ(fake_run(&parent), MACHINE_FORKS);
    CHECK_EQ(ops->fork(parent.machine, child.machine), 0);
    ops->fork_return(parent.machine, 42);
    CHECK_EQ(fake_run(&parent), MACHINE_ENDED);
    CHECK_EQ(fake_run(&child), MACHINE_ENDED);
    CHECK_EQ(parent.log[0], 42);
    CHECK_EQ(child.log[0], 0);
    for (int i = 1; i < 7; i++)
        CHECK_EQ(child.log[i], parent.log[i]);
    CHECK_EQ(child.log[1], 5);
    CHECK_EQ(child.log[2], 7);
    CHECK_EQ(child.log[3], 8);
    CHECK_EQ(child.log[5], 5);
    CHECK_EQ(child.log[6], 65000);
    CHECK_EQ(child.machine->base[300000], 9);
    fake_fini(&parent);
    fake_fini(&child);
    program_put(p);
    engine_free(e);
}

TEST(fork_copies_memory_and_goes_on_in_both)
{
    check_child_in(fake_engine(4, NULL), FORKER(HIGH_BUFFER, CHANGES));
}

TEST(fork_without_a_buffer_uses_the_free_stack)
{
    check_child_in(fake_engine(4, NULL), FORKER("", CHANGES));
}

TEST(fork_on_a_host_that_does_not_tell_written_pages)
{
    struct engine *e = fake_engine(4, NULL);

    pagemap_fini(&e->pagemap);
    check_child_in(e, FORKER(HIGH_BUFFER, CHANGES));
}

/* Memory from a file, of which the parent has changed one page. */
static void
check_mapped_child_in(OWN struct engine *e)
{
    const uint64_t at = 3 << 16, len = 1 << 16;
    struct program *p =
        fake_program(e, FORKER(HIGH_BUFFER, CHANGES), false, NULL, 0);
    const struct machine_ops *ops = engine_ops();
    struct fake parent, child;
    int hfd = pattern_file(len);

    CHECK_EQ(fake_init(&parent, e, p), 0);
    CHECK_EQ(ops->prepare(parent.machine), 0);
    CHECK_EQ(ops->grow(parent.machine, 5 << 16), 0);
    CHECK_EQ(ops->map(parent.machine, hfd, at, len), 0);
    memset(parent.machine->base + at + 4096, 0, 4096);
    CHECK_EQ(fake_init(&child, e, p), 0);
    CHECK_EQ(fake_run(&parent), MACHINE_FORKS);
    CHECK_EQ(ops->fork(parent.machine, child.machine), 0);
    CHECK_EQ(child.machine->base[at + 4095], PATTERN);
    CHECK_EQ(child.machine->base[at + 300], PATTERN);
    CHECK(!memcmp(parent.machine->base + 65536, child.machine->base + 65536,
                  parent.machine->size - 65536));
    fake_fini(&parent);
    fake_fini(&child);
    close(hfd);
    program_put(p);
    engine_free(e);
}

TEST(fork_copies_memory_that_comes_from_a_file)
{
    check_mapped_child_in(fake_engine(4, NULL));
}

TEST(fork_copies_such_memory_where_the_host_does_not_tell_written_pages)
{
    struct engine *e = fake_engine(4, NULL);

    pagemap_fini(&e->pagemap);
    check_mapped_child_in(e);
}

/* Shared memory stays one; the memory around it is copied. */
static void
check_sharing_child_in(OWN struct engine *e)
{
    const uint64_t at = 3 << 16, len = 8192;
    struct program *p =
        fake_program(e, FORKER(HIGH_BUFFER, CHANGES), false, NULL, 0);
    const struct machine_ops *ops = engine_ops();
    struct fake parent, child;
    uint8_t *bytes;

    CHECK_EQ(ops->share_new(e, len, &bytes), 0);
    CHECK_EQ(fake_init(&parent, e, p), 0);
    CHECK_EQ(ops->prepare(parent.machine), 0);
    CHECK_EQ(ops->grow(parent.machine, 5 << 16), 0);
    parent.share = (struct machine_share){bytes, at, len};
    CHECK_EQ(ops->share(parent.machine, &parent.share, 1), 0);
    memset(parent.machine->base + at - 10, PATTERN, len + 20);
    CHECK_EQ(fake_init(&child, e, p), 0);
    CHECK_EQ(fake_run(&parent), MACHINE_FORKS);
    CHECK_EQ(ops->fork(parent.machine, child.machine), 0);
    CHECK(!memcmp(parent.machine->base + 65536, child.machine->base + 65536,
                  parent.machine->size - 65536));
    memset(child.machine->base + at - 1, 1, len + 2);
    CHECK_EQ(parent.machine->base[at - 1], PATTERN);
    CHECK_EQ(parent.machine->base[at], 1);
    CHECK_EQ(parent.machine->base[at + len - 1], 1);
    CHECK_EQ(parent.machine->base[at + len], PATTERN);
    fake_fini(&parent);
    CHECK_EQ(child.machine->base[at], 1);
    fake_fini(&child);
    ops->share_free(e, bytes, len);
    program_put(p);
    engine_free(e);
}

TEST(fork_shares_memory_that_is_shared)
{
    struct engine *e = fake_engine(4, NULL);

    check_sharing_child_in(fake_engine(4, NULL));
    pagemap_fini(&e->pagemap);
    check_sharing_child_in(e);
}

TEST(fork_can_be_repeated)
{
    struct engine *e = fake_engine(4, NULL);
    struct program *p =
        fake_program(e, FORKER(HIGH_BUFFER, ""), false, NULL, 0);
    const struct machine_ops *ops = engine_ops();

    for (int i = 0; i < 100; i++) {
        struct fake parent, child;
        CHECK_EQ(fake_init(&parent, e, p), 0);
        CHECK_EQ(fake_init(&child, e, p), 0);
        CHECK_EQ(fake_run(&parent), MACHINE_FORKS);
        CHECK_EQ(ops->fork(parent.machine, child.machine), 0);
        CHECK_EQ(fake_run(&child), MACHINE_ENDED);
        fake_fini(&child);
        fake_fini(&parent);
    }
    program_put(p);
    engine_free(e);
}

TEST(fork_that_the_kernel_refuses_returns_at_once)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e, FORKER(HIGH_BUFFER, ""));
    f.may_fork = -EAGAIN;
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(f.log[0], -EAGAIN);
    CHECK_EQ(f.log[1], 5);
    fake_fini(&f);
    engine_free(e);
}

TEST(fork_without_memory_for_the_child_tells_the_parent)
{
    struct engine *e = fake_engine(4, NULL);
    struct program *p =
        fake_program(e, FORKER(HIGH_BUFFER, CHANGES), false, NULL, 0);
    const struct machine_ops *ops = engine_ops();
    static const uint64_t limits[] = {1000, 4 << 16}; /* image, growth */

    for (size_t i = 0; i < 2; i++) {
        struct fake parent, child;
        CHECK_EQ(fake_init(&parent, e, p), 0);
        CHECK_EQ(fake_init(&child, e, p), 0);
        child.memory_limit = limits[i];
        CHECK_EQ(fake_run(&parent), MACHINE_FORKS);
        CHECK_EQ(ops->fork(parent.machine, child.machine), -ENOMEM);
        fake_fini(&child);
        ops->fork_return(parent.machine, -ENOMEM);
        CHECK_EQ(fake_run(&parent), MACHINE_ENDED);
        CHECK_EQ(parent.log[0], -ENOMEM);
        fake_fini(&parent);
    }
    program_put(p);
    engine_free(e);
}

TEST(fork_with_too_small_a_buffer_is_a_stack_overflow)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e, FORKER(TINY_BUFFER, ""));
    CHECK_EQ(fake_run(&f), MACHINE_TRAPPED);
    CHECK_EQ(f.trap.signal, SIGSEGV);
    CHECK(!strcmp(f.trap.reason, "stack too deep for fork"));
    fake_fini(&f);
    engine_free(e);
}

TEST(fork_of_a_program_that_cannot_is_enosys)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e,
              "(module " SYS_IMPORTS
              "(import \"sys\" \"fork\" (func $fork (result i32)))" MEMORY
              "(func (export \"_start\")" CALL1(2, "(call $fork)") "))");
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(f.log[0], -ENOSYS);
    fake_fini(&f);
    engine_free(e);
}

TEST(a_buffer_outside_of_memory_is_refused)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e,
              FORKER("(global (export \"__asyncify_buffer\") i32"
                     " (i32.const -16))"
                     "(global (export \"__asyncify_buffer_end\") i32"
                     " (i32.const -1))",
                     ""));
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(f.log[0], -ENOMEM);
    fake_fini(&f);
    engine_free(e);
}

TEST(a_stack_pointer_outside_of_memory_is_refused)
{
    struct engine *e = fake_engine(4, NULL);
    const struct machine_ops *ops = engine_ops();
    struct program *p = fake_program(
        e,
        "(module (import \"sys\" \"fork\" (func $fork (result i32)))" MEMORY
        "(global (export \"__asyncify_state\") (mut i32) (i32.const 0))"
        "(global (export \"__asyncify_data\") (mut i32) (i32.const 0))"
        "(global $sp (export \"__stack_pointer\") (mut i32) (i32.const 65536))"
        "(func (export \"_start\")"
        " (drop (call $fork))"
        " (i32.store (i32.const 16) (i32.const -1))" /* the buffer's end */
        " (global.set $sp (i32.const -4096))))",
        false, NULL, 0);
    struct fake parent, child;

    CHECK_EQ(fake_init(&parent, e, p), 0);
    CHECK_EQ(fake_init(&child, e, p), 0);
    CHECK_EQ(fake_run(&parent), MACHINE_FORKS);
    CHECK_EQ(ops->fork(parent.machine, child.machine), -EFAULT);
    fake_fini(&child);
    ops->fork_return(parent.machine, -EFAULT);
    CHECK_EQ(fake_run(&parent), MACHINE_ENDED);
    fake_fini(&parent);
    program_put(p);
    engine_free(e);
}
