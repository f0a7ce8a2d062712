/* The native stacks of processes, charged to the limit of memory. */
#include "world.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { STACK = 4 << 20 };

/* Its stack is as deep as arg says; then it halts for ever. */
static enum machine_event
go_deep(struct fake_machine *m, struct machine_trap *trap)
{
    (void)trap;
    m->stack_bytes = *(uint64_t *)m->arg;
    return MACHINE_WAITS;
}

static enum machine_event
go_deep_and_spin(struct fake_machine *m, struct machine_trap *trap)
{
    (void)go_deep(m, trap);
    return MACHINE_YIELDED;
}

static struct task *
deep_task(struct kernel *k)
{
    struct task *t = world_task(k);

    sched_queue(t->thread);
    return t;
}

TEST(stack_is_charged_until_the_process_ends)
{
    uint64_t depth = STACK;
    struct engine e = {.run = go_deep, .arg = &depth};
    struct kernel *k = world_new_on(&e);
    struct task *t = deep_task(k);

    CHECK_EQ(world_memory(k), FAKE_MEMORY_BYTES);
    world_run(k);
    CHECK_EQ(world_memory(k), FAKE_MEMORY_BYTES + STACK);
    CHECK_EQ(t->usage.max_memory, FAKE_MEMORY_BYTES + STACK);
    task_exit(t, SIGKILL);
    world_run_all(k);
    CHECK_EQ(k->limits.used[LIMIT_memory], 0);
    kernel_free(k);
}

TEST(stack_that_shrinks_is_given_back)
{
    uint64_t depth = STACK;
    struct engine e = {.run = go_deep, .arg = &depth};
    struct kernel *k = world_new_on(&e);
    struct task *t = deep_task(k);

    world_run(k);
    depth = 0;
    sched_queue(t->thread);
    world_run(k);
    CHECK_EQ(world_memory(k), FAKE_MEMORY_BYTES);
    CHECK_EQ(t->memory_bytes, FAKE_MEMORY_BYTES);
    kernel_free(k);
}

TEST(stack_beyond_the_memory_limit_ends_the_process)
{
    uint64_t depth = STACK;
    struct engine e = {.run = go_deep, .arg = &depth};
    struct kernel *k = world_new_on(&e);
    struct task *t = deep_task(k);

    t->is_host_child = true;
    k->limits.max[LIMIT_memory] = k->limits.used[LIMIT_memory] + STACK - 1;
    world_run(k);
    CHECK(t->is_zombie);
    CHECK_EQ(t->exit_status & 0x7f, SIGSEGV);
    CHECK(!strcmp(t->trap, "stack overflow: memory limit"));
    CHECK(k->limits.was_hit[LIMIT_memory]);
    CHECK_EQ(world_memory(k), 0);

    /* There is room for others. */
    depth = STACK / 2;
    struct task *next = deep_task(k);
    world_run(k);
    CHECK(!next->is_zombie);
    CHECK_EQ(world_memory(k), FAKE_MEMORY_BYTES + STACK / 2);
    kernel_free(k);
}

TEST(stack_of_a_vfork_parent_ends_both)
{
    uint64_t depth = STACK;
    struct engine e = {.run = go_deep, .arg = &depth};
    struct kernel *k = world_new_on(&e);
    struct task *t = deep_task(k);

    int pid = (int)SYS(t, NR_vfork);
    CHECK(pid > 0);
    struct task *child = task_find(k, pid);
    t->is_host_child = child->is_host_child = true;
    k->limits.max[LIMIT_memory] = k->limits.used[LIMIT_memory];
    world_run(k);
    CHECK(t->is_zombie);
    CHECK_EQ(world_memory(k), 0);
    kernel_free(k);
}

TEST(stack_of_a_spinning_process_is_seen_when_it_has_run_for_long)
{
    uint64_t depth = STACK;
    struct engine e = {.run = go_deep_and_spin, .arg = &depth};
    struct kernel *k = world_new_live(&e);
    struct task *t = deep_task(k);

    t->thread->unseen_ns = NS_PER_S;
    world_run(k);
    CHECK_EQ(world_memory(k), FAKE_MEMORY_BYTES + STACK);
    CHECK_EQ(t->thread->unseen_ns, 0);
    kernel_free(k);
}

TEST(stack_is_charged_to_a_forked_child_before_it_runs)
{
    uint64_t depth = STACK;
    struct engine e = {.run = go_deep, .arg = &depth};
    struct kernel *k = world_new_on(&e);
    struct task *t = deep_task(k);

    world_run(k);
    task_fork(t->thread);
    CHECK(fake_of(t->thread)->fork_result > 0);
    CHECK_EQ(world_memory(k), 2 * (FAKE_MEMORY_BYTES + STACK));

    k->limits.max[LIMIT_memory] = k->limits.used[LIMIT_memory] +
                                  FAKE_MEMORY_BYTES + PROCESS_FEE_BYTES +
                                  STACK - 1;
    task_fork(t->thread);
    CHECK_EQ(fake_of(t->thread)->fork_result, -ENOMEM);
    CHECK_EQ(world_memory(k), 2 * (FAKE_MEMORY_BYTES + STACK));
    kernel_free(k);
}

TEST(stack_is_given_back_by_exec)
{
    uint64_t depth = STACK;
    struct engine e = {.run = go_deep, .arg = &depth};
    struct kernel *k = world_new_on(&e);
    struct task *t = deep_task(k);

    world_run(k);
    CHECK_EQ(world_file(k, "/p", FAKE_PROGRAM), 0);
    CHECK_EQ(SYS(t, NR_execve, world_str(t, 256, "/p"), 0, 0), 0);
    depth = 0;
    sched_queue(t->thread);
    world_run(k);
    CHECK_EQ(world_memory(k), FAKE_MEMORY_BYTES + t->args.len);
    CHECK_EQ(t->thread->stack_bytes, 0);
    kernel_free(k);
}
