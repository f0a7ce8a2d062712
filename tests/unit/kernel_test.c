/* A kernel's life: making, root processes, the end. */
#include "world.h"

#include "host/native.h"

#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static const char *const argv[] = {"prog", "x", NULL};
static const char *const envp[] = {NULL};

static enum machine_event
end(struct fake_machine *m, struct machine_trap *trap)
{
    const uint32_t args[6] = {7};

    (void)trap;
    (void)thread_syscall(m->machine.thread, NR_exit_group, args);
    return MACHINE_LEFT;
}

static struct kernel *
with_program(struct engine *e)
{
    struct kernel *k = world_new_on(e);

    CHECK_EQ(world_file(k, "/prog", FAKE_PROGRAM), 0);
    return k;
}

static bool
is_reaped(void *arg)
{
    int *pid_and_status = ((void **)arg)[1];
    struct kernel *k = ((void **)arg)[0];

    return kernel_reap(k, pid_and_status[0], &pid_and_status[1]) == 0;
}

TEST(kernel_new_survives_failing_allocations)
{
    int hfds = world_count_hfds();

    EACH_OOM(oom) {
        struct kernel *k = world_new();
        CHECK(k || test_alloc_failed());
        kernel_free(k);
        CHECK_EQ(world_count_hfds(), hfds);
    }
    kernel_free(NULL);
}

/* Returns the seed for names of a new kernel whose root is a copy of `from`. */
static uint64_t
seed_of(const struct tree *from, bool is_deterministic, uint64_t seed)
{
    const struct kernel_options o = {.host = &host_native,
                                     .is_deterministic = is_deterministic,
                                     .seed = seed};
    struct fs *root;
    struct kernel *k;

    CHECK_EQ(tmpfs_new(NULL, from, 1 << 20, 100, &root), 0);
    CHECK_EQ(kernel_new(&o, root, &k), 0);
    uint64_t ret = tmpfs_tree(mount_root(&k->vfs)->fs)->seed;
    kernel_free(k);
    return ret;
}

TEST(kernel_hashes_names_with_a_seed_of_its_own)
{
    const struct quota max = {1 << 20, 100};
    struct tree t;

    CHECK_EQ(tree_init(&t, &max, 0), 0);
    CHECK(seed_of(&t, true, 1) == seed_of(&t, true, 1));
    CHECK(seed_of(&t, true, 1) != seed_of(&t, true, 2));
    CHECK(seed_of(&t, false, 1) != seed_of(&t, false, 1));
    CHECK(seed_of(&t, true, 0) != 0);
    t.seed = 5;
    CHECK_EQ(seed_of(&t, false, 1), 5);
    tree_fini(&t);
}

TEST(kernel_limits_and_options_are_taken_over)
{
    uint64_t max[LIMIT_COUNT] = {0};
    struct kernel *k;
    struct fs *root;
    struct kernel_options o = {.host = &host_native,
                               .machine = &fake_ops,
                               .limits = max,
                               .is_deterministic = true,
                               .start_ns = 42,
                               .hostname = "box"};

    max[LIMIT_processes] = 3;
    CHECK_EQ(tmpfs_new(NULL, NULL, 1000, 10, &root), 0);
    CHECK_EQ(kernel_new(&o, root, &k), 0);
    CHECK_EQ(k->limits.max[LIMIT_processes], 3);
    CHECK_EQ(clock_real_ns(&k->clock), 42);
    CHECK(!strcmp(k->hostname, "box"));
    CHECK_EQ(k->init->pid, 1);
    kernel_free(k);
}

TEST(kernel_spawn_runs_a_program_to_its_end)
{
    struct engine e = {.run = end};
    struct kernel *k = with_program(&e);
    struct spawn s = {.path = "prog", .argv = argv, .envp = envp, .cwd = "/"};
    int pid_and_status[2];
    void *arg[] = {k, pid_and_status};

    s.stdio[1] = world_open(k, NULL, "/prog", O_RDONLY, NULL);
    int pid = pid_and_status[0] = kernel_spawn(k, &s, NULL, 0);
    CHECK(pid > 1);
    CHECK(!s.stdio[1]);
    struct task *t = task_find(k, pid);
    CHECK(!fd_find(t, 0) && fd_find(t, 1) && !fd_find(t, 2));
    CHECK_EQ(kernel_reap(k, pid, &pid_and_status[1]), -EAGAIN);
    CHECK_EQ(kernel_run(k, is_reaped, arg, NS_NEVER), 0);
    CHECK_EQ(WEXITSTATUS(pid_and_status[1]), 7);
    CHECK_EQ(kernel_reap(k, pid, &pid_and_status[1]), -ECHILD);
    CHECK_EQ(kernel_reap(k, 1, &pid_and_status[1]), -ECHILD);
    kernel_free(k);
}

TEST(kernel_spawn_survives_failing_allocations)
{
    EACH_OOM(oom) {
        test_fail_alloc(0);
        struct engine e = {0};
        struct kernel *k = with_program(&e);
        struct spawn s = {
            .path = "/prog", .argv = argv, .envp = envp, .cwd = "/"};
        char why[100];
        for (int i = 0; i < 3; i++)
            s.stdio[i] = world_open(k, NULL, "/prog", O_RDONLY, NULL);
        test_fail_alloc(oom);
        int pid = kernel_spawn(k, &s, why, sizeof why);
        bool failed = test_alloc_failed();
        CHECK_EQ(pid == -ENOMEM, failed);
        CHECK_EQ(k->limits.used[LIMIT_processes], !failed);
        CHECK_EQ(k->limits.used[LIMIT_open_files], failed ? 0 : 3);
        if (failed)
            CHECK_EQ(k->limits.used[LIMIT_memory], 0);
        kernel_free(k);
        if (!failed)
            break;
    }
}

TEST(kernel_spawn_says_why_it_failed)
{
    struct kernel *k = with_program(NULL);
    struct spawn s = {.path = "/gone", .argv = argv, .envp = envp, .cwd = "/"};
    char why[100];

    CHECK_EQ(kernel_spawn(k, &s, why, sizeof why), -ENOENT);
    CHECK(!strcmp(s.culprit, "/gone"));
    s.path = "/prog";
    s.cwd = "/prog";
    CHECK_EQ(kernel_spawn(k, &s, why, sizeof why), -ENOTDIR);
    s.cwd = "/";
    CHECK_EQ(world_file(k, "/text", "text"), 0);
    s.path = "/text";
    CHECK_EQ(kernel_spawn(k, &s, why, sizeof why), -ENOEXEC);
    CHECK(!strcmp(why, "/text: not a program"));
    k->limits.max[LIMIT_processes] = 0;
    s.stdio[0] = world_open(k, NULL, "/prog", O_RDONLY, NULL);
    CHECK_EQ(kernel_spawn(k, &s, why, sizeof why), -EAGAIN);
    CHECK_EQ(k->limits.used[LIMIT_open_files], 0);
    kernel_free(k);
}

TEST(kernel_kill_chooses_by_run)
{
    struct kernel *k = world_new();
    struct task *a = world_task(k), *b = world_task(k);

    a->run_tag = 1;
    b->run_tag = 2;
    struct task *c = world_child(k, b);
    kernel_kill(k, 2, SIGKILL);
    CHECK(!a->is_zombie && b->is_zombie && c->is_zombie);
    kernel_kill(k, 0, SIGTERM);
    CHECK(a->is_zombie);
    kernel_free(k);
}

TEST(kernel_free_ends_whatever_is_going_on)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *u = world_task(k);
    struct siginfo_k stop = {.signo = SIGSTOP};

    CHECK_EQ(SYS(t, NR_rt_sigsuspend, 256, 8), -EWAIT);
    CHECK_EQ(signal_send(u, &stop), 0);
    struct task *v = world_task(k);
    CHECK(SYS(v, NR_vfork) > 0);
    struct task *w = world_task(k);
    CHECK_EQ(SYS(w, NR_pipe2, 256, 0), 0);
    CHECK_EQ(SYS(w, NR_read, 0, 256, 1), -EWAIT);
    struct task *z = world_task(k);
    z->is_host_child = true;
    task_exit(z, 0);
    kernel_free(k);
}

/* Mail that starts a process, however often the kernel is kicked. */
struct starter {
    struct kernel *k;
    int n_kicks, n_before_the_end;
};

static void
start_another(void *arg)
{
    struct starter *s = arg;
    struct spawn sp = {.path = "/prog", .argv = argv, .envp = envp, .cwd = "/"};

    s->n_kicks++;
    s->n_before_the_end += !list_is_empty(&s->k->init->children);
    CHECK(kernel_spawn(s->k, &sp, NULL, 0) > 0);
}

static bool
is_started(void *arg)
{
    return ((struct starter *)arg)->n_kicks > 0;
}

TEST(kernel_end_all_holds_back_what_starts_processes)
{
    struct engine e = {0};
    struct kernel *k = with_program(&e);
    struct starter s = {.k = k};

    k->on_kick = start_another;
    k->on_kick_arg = &s;
    CHECK(world_task(k));
    kernel_kick(k);
    kernel_end_all(k);
    CHECK_EQ(s.n_kicks, 0);
    CHECK_EQ(k->limits.used[LIMIT_processes], 0);
    CHECK(kernel_has_work(k)); /* the mail */
    CHECK_EQ(kernel_run(k, is_started, &s, NS_NEVER), 0);
    CHECK_EQ(s.n_kicks, 1);
    CHECK_EQ(s.n_before_the_end, 0);
    kernel_free(k);
}

TEST(kernel_keeps_an_eighth_from_what_is_left_of_earlier_runs)
{
    struct kernel *k = world_new();
    struct task *current = world_task(k), *left = world_task(k),
                *beside = world_task(k);
    struct limits *l = &k->limits;
    uint64_t used = l->used[LIMIT_processes];

    l->max[LIMIT_processes] = 32;
    kernel_begin_run(k);
    left->run_tag = k->run_tag;
    beside->run_tag = kernel_new_tag(k);
    CHECK(kernel_charge(left, LIMIT_processes, 27 - used));
    kernel_end_run(k);
    kernel_begin_run(k);
    current->run_tag = k->run_tag;
    CHECK(kernel_charge(left, LIMIT_processes, 1));
    CHECK(!kernel_charge(left, LIMIT_processes, 1));
    CHECK(left->is_zombie);
    CHECK(!l->was_hit[LIMIT_processes]);
    CHECK(kernel_charge(beside, LIMIT_processes, 1));
    CHECK(kernel_charge(current, LIMIT_processes, 3));
    CHECK(!kernel_charge(beside, LIMIT_processes, 1));
    CHECK(!beside->is_zombie);
    CHECK(!kernel_charge(current, LIMIT_processes, 1));
    CHECK(l->was_hit[LIMIT_processes] && k->run_was_refused);
    limits_uncharge(l, LIMIT_processes, 32 - used);
    kernel_free(k);
}

/* Asks for more memory than there is, which ends it, and goes on. */
static enum machine_event
calls_after_its_end(struct fake_machine *m, struct machine_trap *trap)
{
    static const uint32_t none[6];
    struct thread *th = m->machine.thread;

    (void)trap;
    CHECK(!thread_may_grow(th, 0, th->kernel->limits.max[LIMIT_memory]));
    CHECK(th->owner->is_zombie);
    CHECK(thread_syscall(th, NR_vfork, none) <= 0);
    CHECK(thread_syscall(th, NR_epoll_create1, none) < 0);
    return MACHINE_LEFT;
}

TEST(kernel_calls_of_a_process_that_was_ended_do_nothing)
{
    struct engine e = {.run = calls_after_its_end};
    struct kernel *k = world_new_on(&e);
    struct task *left = world_task(k);

    kernel_begin_run(k);
    left->run_tag = k->run_tag;
    kernel_end_run(k);
    kernel_begin_run(k);
    sched_queue(left->thread);
    world_run_all(k);
    CHECK_EQ(k->limits.used[LIMIT_open_files], 0);
    CHECK_EQ(k->limits.used[LIMIT_processes], 0);
    kernel_free(k);
}
