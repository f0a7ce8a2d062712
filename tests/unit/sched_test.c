/* The scheduler, with machines that run scripts. */
#include "kernel/vfs/tmpfs.h"
#include "world.h"

#include "base/os_time.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { AT = 256, SHARED_AT = 65536 };

static struct task *
runnable(struct kernel *k, fake_run *run)
{
    struct task *t = world_task(k);

    fake_of(t->thread)->run = run;
    sched_queue(t->thread);
    return t;
}

static enum machine_event
spin(struct fake_machine *m, struct machine_trap *trap)
{
    (void)m, (void)trap;
    return MACHINE_YIELDED;
}

/* Is ready in sys.wait, and uses up its slice. */
static enum machine_event
wait_and_spin(struct fake_machine *m, struct machine_trap *trap)
{
    (void)trap;
    m->machine.thread->is_ready = true;
    (void)thread_must_wait(m->machine.thread);
    return MACHINE_YIELDED;
}

/* Sleeps for 20 ms, or a bit more than a second of virtual time. */
static enum machine_event
nap(struct fake_machine *m, struct machine_trap *trap)
{
    struct thread *th = m->machine.thread;
    const int64_t ts[2] = {th->kernel->clock.is_virtual, 20 * NS_PER_MS};

    (void)trap;
    memcpy(m->machine.base + AT, ts, sizeof ts);
    const uint32_t args[6] = {0, 0, AT, 0};
    if (thread_syscall(th, NR_clock_nanosleep, args) == -EWAIT &&
        thread_must_wait(th))
        return MACHINE_WAITS;
    return MACHINE_ENDED;
}

static bool
slices_done(void *arg)
{
    int *left = arg;

    return --*left < 0;
}

static bool
is_zombie(void *arg)
{
    return ((struct task *)arg)->is_zombie;
}

static bool
never(void *arg)
{
    (void)arg;
    return false;
}

TEST(sched_busy_threads_take_turns)
{
    struct kernel *k = world_new_live(NULL);
    struct task *t[3];
    int left = 300;

    for (int i = 0; i < 3; i++)
        t[i] = runnable(k, spin);
    CHECK_EQ(kernel_run(k, slices_done, &left, NS_NEVER), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(fake_of(t[i]->thread)->slices, 100);
        CHECK_EQ(t[i]->usage.switches, 100);
    }
    kernel_free(k);
}

TEST(sched_woken_threads_go_first_but_not_for_ever)
{
    struct kernel *k = world_new();
    struct task *busy = runnable(k, spin), *woken = world_task(k);
    int boosts = 0;

    while (boosts < 1000) {
        sched_queue_front(woken->thread);
        if (k->run_queue.next != &woken->thread->run_link)
            break;
        sched_remove(woken->thread);
        boosts++;
    }
    CHECK(boosts > 0 && boosts < 1000);
    CHECK(k->run_queue.next == &busy->thread->run_link);
    kernel_free(k);
}

TEST(sched_started_threads_begin_in_order)
{
    struct kernel *k = world_new();
    struct task *busy = runnable(k, spin), *t[4];

    for (int i = 0; i < 4; i++)
        t[i] = world_task(k);
    for (int i = 0; i < 3; i++)
        sched_queue_started(t[i]->thread);
    struct list *at = k->run_queue.next;
    for (int i = 0; i < 3; i++, at = at->next)
        CHECK(at == &t[i]->thread->run_link);
    CHECK(at == &busy->thread->run_link);
    sched_remove(t[2]->thread); /* the last one runs: nobody is behind it */
    sched_queue_started(t[3]->thread);
    CHECK(k->run_queue.next == &t[3]->thread->run_link);
    kernel_begin_run(k); /* nor behind one of another run */
    t[2]->run_tag = k->run_tag;
    sched_queue_started(t[2]->thread);
    CHECK(k->run_queue.next == &t[2]->thread->run_link);
    kernel_free(k);
}

TEST(sched_virtual_time_keeps_slices_of_the_host_out)
{
    struct kernel *k = world_new();
    struct task *t = runnable(k, spin), *u = runnable(k, spin);
    int left = 100;

    CHECK_EQ(kernel_run(k, slices_done, &left, NS_NEVER), 0);
    CHECK_EQ(fake_of(t->thread)->slices, 100);
    CHECK_EQ(fake_of(u->thread)->slices, 0);
    CHECK_EQ(t->usage.cpu_ns, 0);
    kernel_free(k);
}

/* Uses up a slice, which is counted if the kernel asks for that. */
static enum machine_event
spin_counted(struct fake_machine *m, struct machine_trap *trap)
{
    (void)trap;
    m->machine.slice_is_over = m->machine.is_counted;
    return MACHINE_YIELDED;
}

/* Gives t a page of shared memory. */
static void
share_page(struct task *t)
{
    CHECK_EQ(SYS(t, NR_mmap2, SHARED_AT, 4096, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, (uint32_t)-1),
             SHARED_AT);
}

TEST(sched_virtual_time_switches_between_processes_with_shared_memory)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = runnable(k, spin_counted), *u = runnable(k, spin_counted);
    int left = 100;

    share_page(t);
    share_page(u);
    CHECK_EQ(kernel_run(k, slices_done, &left, NS_NEVER), 0);
    CHECK_EQ(fake_of(t->thread)->slices, 50);
    CHECK_EQ(fake_of(u->thread)->slices, 50);
    CHECK_EQ(clock_mono_ns(&k->clock), CLOCK_START_NS + 100 * NS_PER_MS);
    kernel_free(k);
}

TEST(sched_virtual_time_passes_beside_a_thread_that_spins)
{
    struct kernel *k = world_new_on(&(struct engine){0});
    struct task *sleeper = runnable(k, nap), *t = runnable(k, spin_counted);

    share_page(t);
    sleeper->is_host_child = true;
    CHECK_EQ(kernel_run(k, is_zombie, sleeper, NS_NEVER), 0);
    CHECK_EQ(fake_of(t->thread)->slices, 1020);
    kernel_free(k);
}

TEST(sched_slice_is_counted_from_the_first_mapping_on)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = world_task(k);

    k->running = t->thread;
    CHECK_EQ(SYS(t, NR_getpid, 0), t->pid);
    CHECK_EQ(e.interrupts, 0);
    share_page(t);
    CHECK_EQ(e.interrupts, 1);
    k->running = NULL;
    kernel_free(k);
}

TEST(sched_thread_woken_while_it_runs_is_queued_once)
{
    struct kernel *k = world_new();
    struct task *t = runnable(k, spin);
    int left = 3;

    t->rlimits[RLIMIT_CPU] = (struct rlimit_k){0, RLIM_INFINITY};
    t->sig.action[SIGXCPU].handler = 100;
    fake_of(t->thread)->run = wait_and_spin;
    CHECK_EQ(kernel_run(k, slices_done, &left, NS_NEVER), 0);
    CHECK(k->run_queue.next == &t->thread->run_link);
    CHECK(k->run_queue.prev == &t->thread->run_link);
    kernel_free(k);
}

TEST(sched_what_is_left_of_earlier_runs_gets_few_slices)
{
    struct kernel *k = world_new_live(NULL);
    struct task *old = world_task(k);
    int left = 80;

    k->run_tag++;
    fake_of(old->thread)->run = spin;
    sched_queue(old->thread);
    struct task *t = world_task(k);
    t->run_tag = k->run_tag;
    fake_of(t->thread)->run = spin;
    sched_queue(t->thread);
    CHECK_EQ(kernel_run(k, slices_done, &left, NS_NEVER), 0);
    CHECK_EQ(fake_of(old->thread)->slices, 10);
    CHECK_EQ(fake_of(t->thread)->slices, 70);
    kernel_free(k);
}

TEST(sched_stopped_threads_do_not_run)
{
    struct kernel *k = world_new_live(NULL);
    struct task *t = runnable(k, spin), *u = runnable(k, spin);
    struct siginfo_k stop = {.signo = SIGSTOP}, cont = {.signo = SIGCONT};
    int left = 50;

    CHECK_EQ(signal_send(t, &stop), 0);
    CHECK_EQ(kernel_run(k, slices_done, &left, NS_NEVER), 0);
    CHECK_EQ(fake_of(t->thread)->slices, 0);
    CHECK_EQ(fake_of(u->thread)->slices, 50);
    CHECK_EQ(signal_send(t, &cont), 0);
    left = 50;
    CHECK_EQ(kernel_run(k, slices_done, &left, NS_NEVER), 0);
    CHECK_EQ(fake_of(t->thread)->slices, 25);
    kernel_free(k);
}

TEST(sched_virtual_time_jumps_when_all_sleep)
{
    struct kernel *k = world_new();
    struct task *t = runnable(k, nap);

    t->is_host_child = true;
    CHECK_EQ(kernel_run(k, is_zombie, t, NS_NEVER), 0);
    CHECK(clock_mono_ns(&k->clock) >= CLOCK_START_NS + NS_PER_S);
    CHECK(clock_mono_ns(&k->clock) <
          CLOCK_START_NS + NS_PER_S + 21 * NS_PER_MS);
    CHECK_EQ(t->usage.switches, 2);
    kernel_free(k);
}

TEST(sched_timers_fire_beside_busy_threads)
{
    struct kernel *k = world_new_live(NULL);
    struct task *t = runnable(k, nap);
    int64_t begin = clock_mono_ns(&k->clock);

    runnable(k, spin);
    t->is_host_child = true;
    CHECK_EQ(kernel_run(k, is_zombie, t, NS_NEVER), 0);
    CHECK(clock_mono_ns(&k->clock) >= begin + 20 * NS_PER_MS);
    kernel_free(k);
}

TEST(sched_deadline_ends_the_run)
{
    struct engine e = {0};
    struct kernel *k = world_new_live(&e);
    int64_t soon = clock_after(&k->clock, 5 * NS_PER_MS);

    CHECK_EQ(kernel_run(k, never, NULL, soon), -ETIMEDOUT);
    CHECK(clock_mono_ns(&k->clock) >= soon);
    runnable(k, spin);
    soon = clock_after(&k->clock, 5 * NS_PER_MS);
    CHECK_EQ(kernel_run(k, never, NULL, soon), -ETIMEDOUT);
    kernel_free(k);
}

TEST(sched_sleeps_on_a_timer_in_the_far_future)
{
    struct engine e = {0};
    struct kernel *k = world_new_live(&e);
    struct timer far = {0};

    CHECK_EQ(timer_start(&k->clock, &far, NS_NEVER - 1), 0);
    CHECK_EQ(kernel_run(k, never, NULL, clock_after(&k->clock, NS_PER_MS)),
             -ETIMEDOUT);
    timer_stop(&k->clock, &far);
    kernel_free(k);
}

/* --- host descriptors and kicks */

struct host_wait {
    struct host_watch watch;
    int hfd;
    int slices;
};

static enum machine_event
wait_for_host(struct fake_machine *m, struct machine_trap *trap)
{
    struct host_wait *h = m->arg;
    struct thread *th = m->machine.thread;
    struct thread_poll tp;

    (void)trap;
    h->slices++;
    thread_poll_init(&tp, th);
    th->is_ready = false;
    if (host_watch_poll(&h->watch, th->kernel, POLLIN, &tp.pt) & POLLIN)
        return MACHINE_ENDED;
    (void)thread_must_wait(th);
    return MACHINE_WAITS;
}

static void *
write_later(void *arg)
{
    struct host_wait *h = arg;
    uint64_t one = 1;

    CHECK(write(h->hfd, &one, sizeof one) == sizeof one);
    return NULL;
}

static void
check_host_wakes(bool beside_busy)
{
    struct engine e = {0};
    struct kernel *k = world_new_live(&e);
    struct host_wait h = {.hfd = eventfd(0, EFD_CLOEXEC)};
    struct task *t = runnable(k, wait_for_host);
    pthread_t thread;

    if (beside_busy)
        runnable(k, spin);
    host_watch_init(&h.watch, k, h.hfd);
    fake_of(t->thread)->arg = &h;
    t->is_host_child = true;
    int left = 3;
    if (beside_busy)
        CHECK_EQ(kernel_run(k, slices_done, &left, NS_NEVER), 0);
    CHECK_EQ(pthread_create(&thread, NULL, write_later, &h), 0);
    CHECK_EQ(kernel_run(k, is_zombie, t, NS_NEVER), 0);
    CHECK(h.slices <= 2);
    (void)pthread_join(thread, NULL);
    host_watch_fini(&h.watch);
    (void)close(h.hfd);
    kernel_free(k);
}

TEST(sched_host_descriptor_wakes_an_idle_kernel)
{
    check_host_wakes(false);
}

TEST(sched_host_descriptor_wakes_beside_busy_threads)
{
    check_host_wakes(true);
}

static bool
is_set(void *arg)
{
    return *(_Atomic bool *)arg;
}

struct kicker {
    struct kernel *k;
    _Atomic bool done;
};

static void *
kick(void *arg)
{
    struct kicker *c = arg;

    c->done = true;
    kernel_kick(c->k);
    return NULL;
}

TEST(sched_kick_from_another_thread_ends_the_sleep)
{
    struct engine e = {0};
    struct kicker c = {.k = world_new_live(&e)};
    pthread_t thread;

    CHECK_EQ(pthread_create(&thread, NULL, kick, &c), 0);
    CHECK_EQ(kernel_run(c.k, is_set, &c.done, NS_NEVER), 0);
    (void)pthread_join(thread, NULL);
    CHECK_EQ(e.interrupts, 1);
    kernel_free(c.k);
}

/* --- what machines do */

static enum machine_event
trap_now(struct fake_machine *m, struct machine_trap *trap)
{
    (void)m;
    *trap = (struct machine_trap){SIGSEGV, SEGV_MAPERR, "out of bounds", 0};
    return MACHINE_TRAPPED;
}

TEST(sched_trap_ends_the_task_with_its_signal)
{
    struct kernel *k = world_new();
    struct task *t = runnable(k, trap_now);

    t->is_host_child = true;
    CHECK_EQ(kernel_run(k, is_zombie, t, NS_NEVER), 0);
    CHECK_EQ(t->exit_status, SIGSEGV);
    CHECK(!strcmp(t->trap, "out of bounds"));
    kernel_free(k);
}

/* Traps, then takes the signal in the entry for handlers, which returns. */
static enum machine_event
trap_and_handle(struct fake_machine *m, struct machine_trap *trap)
{
    if (!m->faults)
        return trap_now(m, trap);
    m->words[0] += (uint32_t)thread_signext(m->machine.thread, 256);
    memcpy(&m->words[1], m->machine.base + 256, sizeof m->words[1]);
    CHECK_EQ(m->words[0], 1);
    CHECK_EQ(m->words[1], SIGSEGV);
    CHECK_EQ(m->fault_stack, m->machine.thread->owner->sig.first.alt_end);
    return MACHINE_ENDED;
}

TEST(sched_trap_runs_a_handler_and_ends_the_task_when_it_returns)
{
    struct kernel *k = world_new();
    struct task *t = runnable(k, trap_and_handle);

    t->is_host_child = true;
    t->sig.action[SIGSEGV] = (struct sigaction_k){100, GSA_ONSTACK, 0};
    t->sig.first.alt_end = 4096;
    CHECK_EQ(kernel_run(k, is_zombie, t, NS_NEVER), 0);
    CHECK_EQ(t->exit_status, SIGSEGV);
    kernel_free(k);
}

/* The handler traps too. */
TEST(sched_trap_in_a_handler_ends_the_task)
{
    struct kernel *k = world_new();
    struct task *t = runnable(k, trap_now);

    t->is_host_child = true;
    t->sig.action[SIGSEGV] = (struct sigaction_k){100, 0, 0};
    CHECK_EQ(kernel_run(k, is_zombie, t, NS_NEVER), 0);
    CHECK_EQ(t->exit_status, SIGSEGV);
    kernel_free(k);
}

static enum machine_event
vfork_and_trap(struct fake_machine *m, struct machine_trap *trap)
{
    const uint32_t none[6] = {0};

    CHECK(thread_syscall(m->machine.thread, NR_vfork, none) > 0);
    return trap_now(m, trap);
}

TEST(sched_trap_in_a_vfork_child_ends_both)
{
    struct kernel *k = world_new();
    struct task *t = runnable(k, vfork_and_trap);

    t->is_host_child = true;
    CHECK_EQ(kernel_run(k, is_zombie, t, NS_NEVER), 0);
    CHECK_EQ(t->exit_status, SIGSEGV);
    world_run(k);
    CHECK_EQ(k->limits.used[LIMIT_processes], 1);
    kernel_free(k);
}

static enum machine_event
fork_once(struct fake_machine *m, struct machine_trap *trap)
{
    (void)trap;
    if (m->slices == 1)
        return MACHINE_FORKS;
    *(int *)m->arg += m->fork_result == 0 ? 1 : 100;
    return MACHINE_ENDED;
}

TEST(sched_fork_returns_twice)
{
    int sum = 0;
    struct engine e = {.run = fork_once, .arg = &sum};
    struct kernel *k = world_new_on(&e);

    runnable(k, fork_once);
    world_run_all(k);
    CHECK_EQ(sum, 101);
    CHECK_EQ(k->limits.used[LIMIT_memory], 0);
    kernel_free(k);
}

static enum machine_event
burn(struct fake_machine *m, struct machine_trap *trap)
{
    (void)trap;
    m->machine.thread->owner->usage.cpu_ns += NS_PER_S;
    return MACHINE_YIELDED;
}

TEST(sched_cpu_limit_ends_a_busy_task)
{
    struct kernel *k = world_new();
    struct task *t = runnable(k, burn);

    t->is_host_child = true;
    t->rlimits[RLIMIT_CPU] = (struct rlimit_k){RLIM_INFINITY, 3};
    CHECK_EQ(kernel_run(k, is_zombie, t, NS_NEVER), 0);
    CHECK_EQ(t->exit_status, SIGKILL);
    kernel_free(k);
}

static enum machine_event
doze(struct fake_machine *m, struct machine_trap *trap)
{
    struct timespec ts = {.tv_nsec = 20 * NS_PER_MS};

    (void)trap;
    if (m->slices == 2)
        *(int64_t *)m->arg = m->machine.thread->owner->usage.cpu_ns;
    nanosleep(&ts, NULL);
    return MACHINE_YIELDED;
}

TEST(sched_what_the_host_does_meanwhile_is_no_cpu_time)
{
    struct kernel *k = world_new();
    struct task *t = runnable(k, doze);
    int64_t before = -1;
    int left = 2;

    k->clock.is_virtual = false;
    fake_of(t->thread)->arg = &before;
    CHECK_EQ(kernel_run(k, slices_done, &left, NS_NEVER), 0);
    CHECK(before >= 0 && t->usage.cpu_ns - before < 20 * NS_PER_MS);
    CHECK_EQ(k->cpu_ns, t->usage.cpu_ns);
    kernel_free(k);
}

TEST(sched_soft_cpu_limit_signals_each_second)
{
    struct kernel *k = world_new();
    struct task *t = runnable(k, burn);
    int left = 2;

    t->rlimits[RLIMIT_CPU] = (struct rlimit_k){1, RLIM_INFINITY};
    t->sig.action[SIGXCPU].handler = 100;
    CHECK_EQ(kernel_run(k, slices_done, &left, NS_NEVER), 0);
    CHECK(t->sig.pending.set & SIG_BIT(SIGXCPU));
    CHECK(t->rlimits[RLIMIT_CPU].cur >= 3);
    kernel_free(k);
}

/* --- calls that are not made again */

TEST(sched_another_call_after_a_wait_begins_anew)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int32_t fds[2];
    uint32_t iov[4] = {0x10000, 60000, 0x20000, 60000};

    CHECK_EQ(SYS(t, NR_pipe2, AT, 0), 0);
    memcpy(fds, world_at(t, AT), sizeof fds);
    memcpy(world_at(t, AT), iov, sizeof iov);
    CHECK_EQ(SYS(t, NR_write, (uint32_t)fds[1], 0x10000, 120000), -EWAIT);
    CHECK(t->thread->call.progress > 0);
    CHECK_EQ(SYS(t, NR_getpid), t->pid);
    CHECK_EQ(t->thread->call.progress, 0);
    kernel_free(k);
}

TEST(sched_shorter_transfer_after_a_wait_is_over)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint32_t iov[4] = {0x10000, 30000, 0x20000, 30000};
    int32_t fds[2];

    CHECK_EQ(SYS(t, NR_pipe2, AT, 0), 0);
    memcpy(fds, world_at(t, AT), sizeof fds);
    memcpy(world_at(t, AT), iov, sizeof iov);
    CHECK_EQ(SYS(t, NR_writev, (uint32_t)fds[1], AT, 2), 60000);
    CHECK_EQ(SYS(t, NR_writev, (uint32_t)fds[1], AT, 2), -EWAIT);
    iov[1] = iov[3] = 4;
    memcpy(world_at(t, AT), iov, sizeof iov);
    CHECK_EQ(SYS(t, NR_writev, (uint32_t)fds[1], AT, 2), 8);
    kernel_free(k);
}

/* --- freeing what was removed */

struct removal {
    struct tree *tree;
    uint64_t freed;
    unsigned steps;
};

static bool
is_freed(void *arg)
{
    struct removal *r = arg;

    CHECK(r->tree->deferred.freed - r->freed < 1200);
    r->freed = r->tree->deferred.freed;
    r->steps++;
    return !r->tree->deferred.top;
}

TEST(an_idle_kernel_frees_what_was_removed_in_steps)
{
    enum { BLOCKS = 12000 };
    struct kernel *k = world_new();
    struct mount *root = mount_root(&k->vfs);
    struct removal r = {.tree = tmpfs_tree(root->fs)};
    struct vnode top = world_root(k);
    struct at at = {.vfs = &k->vfs, .base = &top, .path = "/f"};

    r.tree->max.bytes = UINT64_MAX;
    struct file *f = world_open(k, NULL, "/f", O_CREAT | O_RDWR, NULL);
    for (uint64_t pos = 0; pos < BLOCKS * UINT64_C(4096);) {
        CHECK_EQ(f->ops->write(f, NULL, "x", 1, &pos), 1);
        pos += 4095;
    }
    CHECK_EQ(vfs_unlink(&at, 0), 0);
    file_put(f);
    CHECK_EQ(r.tree->used.bytes, 0);
    CHECK(r.tree->deferred.top != NULL);
    CHECK_EQ(kernel_run(k, is_freed, &r, NS_NEVER), 0);
    CHECK(r.steps > 10 && r.freed > BLOCKS);
    kernel_free(k);
}

/* --- steps */

TEST(sched_step_runs_what_can_run_and_does_not_sleep)
{
    struct kernel *k = world_new_live(NULL);
    struct task *t = runnable(k, nap);

    CHECK(kernel_has_work(k));
    kernel_step(k, never, NULL);
    CHECK(!kernel_has_work(k));
    CHECK(!t->is_zombie);
    int64_t next = kernel_next_ns(k);
    CHECK(next > 0 && next <= time_mono_ns() + 20 * NS_PER_MS);
    while (time_mono_ns() < next)
        ;
    t->is_host_child = true;
    kernel_step(k, never, NULL);
    CHECK(t->is_zombie);
    CHECK_EQ(kernel_next_ns(k), NS_NEVER);
    kernel_free(k);
}

TEST(sched_step_ends_when_it_is_told)
{
    struct kernel *k = world_new_live(NULL);
    struct task *t = runnable(k, spin);
    int left = 5;

    kernel_step(k, slices_done, &left);
    CHECK_EQ(fake_of(t->thread)->slices, 5);
    CHECK(kernel_has_work(k));
    kernel_free(k);
}

static void
count_kick(void *arg)
{
    ++*(int *)arg;
}

TEST(sched_kick_is_taken_once)
{
    struct kernel *k = world_new_live(NULL);
    int kicks = 0;

    k->on_kick = count_kick;
    k->on_kick_arg = &kicks;
    kernel_kick(k);
    kernel_kick(k);
    CHECK(kernel_has_work(k));
    kernel_step(k, never, NULL);
    CHECK_EQ(kicks, 1);
    CHECK(!kernel_has_work(k));
    kernel_free(k);
}
