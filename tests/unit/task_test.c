/* Tasks: making, ending, reparenting, groups, vfork, numbers. */
#include "kernel/resident.h"
#include "world.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { AT = 256 };

static void
send(struct task *t, int sig)
{
    struct siginfo_k si = {.signo = sig};

    (void)signal_send(t, &si);
}

static int
status_at(struct task *t)
{
    int32_t s;

    memcpy(&s, world_at(t, AT), sizeof s);
    return s;
}

TEST(task_new_survives_failing_allocations)
{
    EACH_OOM(oom) {
        test_fail_alloc(0);
        struct kernel *k = world_new();
        struct task *t = world_task(k);
        static const char *const argv[] = {"a", "b", NULL};
        CHECK_EQ(args_set(t, argv, argv, "/a"), 0);
        CHECK_EQ(SYS(t, NR_pipe2, AT, 0), 0);
        uint64_t processes = k->limits.used[LIMIT_processes];
        test_fail_alloc(oom);
        struct task *c = world_child(k, t);
        bool failed = test_alloc_failed();
        CHECK_EQ(c == NULL, failed);
        CHECK_EQ(k->limits.used[LIMIT_processes], processes + !failed);
        kernel_free(k);
        if (!failed)
            break;
    }
}

TEST(task_inherits_from_its_parent)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    t->umask = 077;
    t->nice = 5;
    t->pgid = 99;
    t->run_tag = 7;
    t->pdeath_signal = SIGHUP;
    struct task *c = world_child(k, t);
    CHECK(c->parent == t);
    CHECK_EQ(c->umask, 077);
    CHECK_EQ(c->nice, 5);
    CHECK_EQ(c->pgid, 99);
    CHECK_EQ(c->sid, t->sid);
    CHECK_EQ(c->run_tag, 7);
    CHECK_EQ(c->pdeath_signal, 0);
    CHECK(task_find(k, c->pid) == c);
    kernel_free(k);
}

TEST(task_limit_of_processes_gives_eagain)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *u = NULL;

    k->limits.max[LIMIT_processes] = 2;
    CHECK(world_child(k, t));
    CHECK_EQ(task_new(k, t, &u), -EAGAIN);
    CHECK(!u);
    CHECK(k->limits.was_hit[LIMIT_processes]);
    CHECK_EQ(thread_may_fork(t->thread), -EAGAIN);
    CHECK_EQ(SYS(t, NR_vfork), -EAGAIN);
    kernel_free(k);
}

TEST(task_zombie_waits_for_its_parent)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *c = world_child(k, t);
    int pid = c->pid;

    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, WNOHANG, 0), 0);
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, 0, 0), -EWAIT);
    task_exit(c, 3 << 8);
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, WNOHANG, 0), 0);
    world_run(k);
    CHECK(!c->thread);
    CHECK(task_find(k, pid) == c);
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, 0, 0), pid);
    CHECK(WIFEXITED(status_at(t)) && WEXITSTATUS(status_at(t)) == 3);
    CHECK(!task_find(k, pid));
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, 0, 0), -ECHILD);
    kernel_free(k);
}

TEST(task_nobody_waits_for_is_freed)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *c = world_child(k, t);
    int pid = c->pid;

    t->sig.action[SIGCHLD].handler = GUEST_SIG_IGN;
    task_exit(c, 0);
    world_run(k);
    CHECK(!task_find(k, pid));
    t->sig.action[SIGCHLD] = (struct sigaction_k){.flags = GSA_NOCLDWAIT};
    c = world_child(k, t);
    pid = c->pid;
    task_exit(c, 0);
    world_run(k);
    CHECK(!task_find(k, pid));
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, 0, 0), -ECHILD);
    kernel_free(k);
}

TEST(task_orphans_go_to_init_and_are_reaped)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *c = world_child(k, t);
    struct task *dead = world_child(k, t);
    int pid = c->pid, dead_pid = dead->pid;

    task_exit(dead, 0);
    world_run(k);
    CHECK(task_find(k, dead_pid));
    task_exit(t, 0);
    world_run(k);
    CHECK(!task_find(k, dead_pid));
    CHECK(c->parent == k->init);
    CHECK_EQ(SYS(c, NR_getppid), 1);
    task_exit(c, 0);
    world_run(k);
    CHECK(!task_find(k, pid));
    CHECK_EQ(k->limits.used[LIMIT_processes], 0);
    kernel_free(k);
}

TEST(task_death_signal_comes_when_the_parent_ends)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *c = world_child(k, t);

    CHECK_EQ(SYS(c, NR_prctl, PR_SET_PDEATHSIG, SIGTERM), 0);
    task_exit(t, 0);
    CHECK(c->is_zombie);
    CHECK_EQ(c->exit_status, SIGTERM);
    kernel_free(k);
}

TEST(task_stop_and_continue_are_events_for_wait4)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *c = world_child(k, t);
    const uint32_t all = WNOHANG | WUNTRACED | WCONTINUED;

    send(c, SIGSTOP);
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, WNOHANG, 0), 0);
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, all, 0), c->pid);
    CHECK(WIFSTOPPED(status_at(t)) && WSTOPSIG(status_at(t)) == SIGSTOP);
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, all, 0), 0);
    send(c, SIGCONT);
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, all, 0), c->pid);
    CHECK(WIFCONTINUED(status_at(t)));
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)-1, AT, all, 0), 0);
    kernel_free(k);
}

/* Each is killed by the end of the one before. */
TEST(task_chain_of_deaths_needs_no_stack)
{
    enum { LONG = 20000 };
    struct engine e = {.memory_bytes = 4096};
    struct kernel *k = world_new_on(&e);
    struct task *first = NULL, *t = NULL;

    k->limits.max[LIMIT_processes] = LONG;
    k->limits.max[LIMIT_memory] = UINT64_MAX;
    for (int i = 0; i < LONG; i++) {
        t = world_child(k, t);
        t->pdeath_signal = SIGKILL;
        first = first ? first : t;
    }
    send(first, SIGKILL);
    CHECK(first->is_zombie && t->is_zombie);
    CHECK_EQ(t->exit_status, SIGKILL);
    kernel_free(k);
}

/* --- vfork */

TEST(task_vfork_child_borrows_and_gives_back_the_thread)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct thread *th = t->thread;

    int32_t pid = SYS(t, NR_vfork);
    struct task *c = task_find(k, pid);
    CHECK(c && th->task == c && th->owner == t && c->thread == th);
    CHECK_EQ(SYS(c, NR_getpid), pid);
    CHECK_EQ(SYS(c, NR_vfork), -EAGAIN);
    CHECK_EQ(thread_may_fork(th), -ENOSYS);
    CHECK_EQ(SYS(c, NR_exit_group, 4), 0);
    CHECK(th->task == t && !th->leaving);
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)pid, AT, 0, 0), pid);
    CHECK_EQ(WEXITSTATUS(status_at(t)), 4);
    kernel_free(k);
}

TEST(task_vfork_child_that_is_killed_sends_the_parent_on)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *other = world_task(k);
    struct thread *th = t->thread;

    int32_t pid = SYS(t, NR_vfork);
    struct task *c = task_find(k, pid);
    CHECK_EQ(SYS(c, NR_rt_sigsuspend, AT, 8), -EWAIT);
    CHECK_EQ(SYS(other, NR_kill, (uint32_t)pid, SIGKILL), 0);
    CHECK(th->task == t && th->is_ready);
    CHECK(!list_is_empty(&th->run_link));
    CHECK_EQ(SYS(t, NR_rt_sigsuspend, AT, 8), -EVFORKGONE);
    CHECK_EQ(SYS(t, NR_wait4, (uint32_t)pid, AT, 0, 0), pid);
    CHECK_EQ(WTERMSIG(status_at(t)), SIGKILL);
    kernel_free(k);
}

/* A resident stays when its command is killed, without a thread. */
TEST(task_vfork_child_of_a_resident_ends_with_the_command)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct resident r = {.task = t};

    t->resident = &r;
    struct task *c = task_find(k, SYS(t, NR_vfork));
    CHECK_EQ(SYS(c, NR_rt_sigsuspend, 256, 8), -EWAIT);
    signal_send_kernel(t, SIGKILL);
    world_run(k);
    CHECK(r.is_parked && !t->thread);
    CHECK(c->is_zombie && !c->thread);
    t->resident = NULL;
    task_exit(t, 0);
    task_reap(t);
    kernel_free(k);
}

TEST(task_vfork_child_killed_while_stopped_sends_the_parent_on)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct thread *th = t->thread;

    struct task *c = task_find(k, SYS(t, NR_vfork));
    CHECK_EQ(SYS(c, NR_rt_sigsuspend, AT, 8), -EWAIT);
    send(c, SIGSTOP);
    CHECK(th->is_stopped);
    task_exit(c, SIGTERM);
    CHECK(!th->is_stopped);
    CHECK(!list_is_empty(&th->run_link));
    kernel_free(k);
}

TEST(task_vfork_parent_stopped_meanwhile_stays_stopped)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct thread *th = t->thread;

    struct task *c = task_find(k, SYS(t, NR_vfork));
    send(t, SIGSTOP);
    CHECK(t->is_stopped && !th->is_stopped);
    CHECK_EQ(SYS(c, NR_exit_group, 0), 0);
    CHECK(th->is_stopped);
    sched_queue(th);
    CHECK(list_is_empty(&k->run_queue));
    send(t, SIGCONT);
    CHECK(!list_is_empty(&k->run_queue));
    kernel_free(k);
}

TEST(task_vfork_parent_that_is_killed_takes_the_child_along)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    int32_t pid = SYS(t, NR_vfork);
    struct task *c = task_find(k, pid);
    CHECK_EQ(SYS(c, NR_kill, (uint32_t)t->pid, SIGKILL), 0);
    CHECK(t->is_zombie && c->is_zombie);
    world_run(k);
    CHECK(!task_find(k, pid));
    CHECK_EQ(k->limits.used[LIMIT_processes], 0);
    kernel_free(k);
}

/* --- fork */

TEST(task_fork_survives_failing_allocations)
{
    EACH_OOM(oom) {
        test_fail_alloc(0);
        struct engine e = {0};
        struct kernel *k = world_new_on(&e);
        struct task *t = world_task(k);
        test_fail_alloc(oom);
        task_fork(t->thread);
        bool failed = test_alloc_failed();
        CHECK_EQ(fake_of(t->thread)->fork_result < 0, failed);
        CHECK_EQ(k->limits.used[LIMIT_processes], failed ? 1 : 2);
        CHECK(!list_is_empty(&t->thread->run_link));
        kernel_free(k);
        if (!failed)
            break;
    }
}

TEST(task_fork_that_the_engine_refuses_leaves_nothing)
{
    struct engine e = {.fork_fails = true};
    struct kernel *k = world_new_on(&e);
    struct task *t = world_task(k);

    task_fork(t->thread);
    CHECK_EQ(fake_of(t->thread)->fork_result, -ENOMEM);
    CHECK_EQ(k->limits.used[LIMIT_processes], 1);
    CHECK_EQ(k->limits.used[LIMIT_memory],
             FAKE_MEMORY_BYTES + PROCESS_FEE_BYTES);
    kernel_free(k);
}

TEST(task_fork_beyond_the_memory_limit_fails)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = world_task(k);

    k->limits.max[LIMIT_memory] = 2 * FAKE_MEMORY_BYTES;
    task_fork(t->thread);
    CHECK_EQ(fake_of(t->thread)->fork_result, -ENOMEM);
    CHECK(k->limits.was_hit[LIMIT_memory]);
    kernel_free(k);
}

/* --- groups */

/* A session: a leader, and a job of it with two members. */
struct session {
    struct kernel *k;
    struct task *shell, *job, *member;
};

static struct session
session_new(void)
{
    struct session s = {.k = world_new()};

    s.shell = world_task(s.k);
    world_setsid(s.shell);
    s.job = world_child(s.k, s.shell);
    s.job->pgid = s.job->pid;
    s.member = world_child(s.k, s.job);
    return s;
}

TEST(task_group_is_orphaned_without_a_link_to_its_session)
{
    struct session s = session_new();

    CHECK(task_group_is_orphaned(s.k, s.shell->pgid));
    CHECK(!task_group_is_orphaned(s.k, s.job->pgid));
    task_exit(s.job, 0);
    CHECK(task_group_is_orphaned(s.k, s.member->pgid));
    kernel_free(s.k);
}

TEST(task_stop_from_the_terminal_is_ignored_in_an_orphaned_group)
{
    struct session s = session_new();

    send(s.member, SIGTSTP);
    CHECK(s.member->is_stopped);
    send(s.shell, SIGTSTP);
    CHECK(!s.shell->is_stopped);
    send(s.shell, SIGSTOP);
    CHECK(s.shell->is_stopped);
    kernel_free(s.k);
}

TEST(task_stopped_group_that_loses_its_link_is_hung_up)
{
    struct session s = session_new();

    send(s.member, SIGSTOP);
    task_exit(s.job, 0);
    CHECK(s.member->is_zombie);
    CHECK_EQ(s.member->exit_status, SIGHUP);
    kernel_free(s.k);
}

TEST(task_stopped_group_of_a_shell_that_ends_is_hung_up)
{
    struct session s = session_new();

    send(s.job, SIGSTOP);
    send(s.member, SIGSTOP);
    task_exit(s.shell, 0);
    CHECK(s.job->is_zombie && s.member->is_zombie);
    kernel_free(s.k);
}

TEST(task_stopped_member_of_a_group_orphaned_before_stays)
{
    struct session s = session_new();
    struct task *child = world_child(s.k, s.shell);
    struct task *grandchild = world_child(s.k, child);

    send(grandchild, SIGSTOP);
    task_exit(child, 0);
    CHECK(grandchild->is_stopped && !grandchild->is_zombie);
    kernel_free(s.k);
}

TEST(task_init_is_out_of_reach)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(SYS(t, NR_kill, 1, SIGKILL), -EPERM);
    CHECK_EQ(SYS(t, NR_prlimit64, 1, RLIMIT_NOFILE, AT, 0), -EPERM);
    CHECK_EQ(SYS(t, NR_setpriority, PRIO_PROCESS, 1, 19), -EPERM);
    CHECK_EQ(SYS(t, NR_setpriority, PRIO_USER, 0, 19), 0);
    CHECK_EQ(k->init->nice, 0);
    CHECK_EQ(t->nice, 19);
    kernel_free(k);
}

/* --- numbers */

TEST(task_numbers_wrap_around_past_those_in_use)
{
    struct kernel *k = world_new();
    struct task *first = world_task(k), *second = world_task(k);

    CHECK_EQ(first->pid, 2);
    CHECK_EQ(second->pid, 3);
    second->pgid = 4;
    k->last_pid = PID_MAX - 2;
    struct task *last = world_task(k), *wrapped = world_task(k);
    CHECK_EQ(last->pid, PID_MAX - 1);
    CHECK_EQ(wrapped->pid, 5);
    CHECK(task_find(k, 5) == wrapped);
    CHECK(!task_find(k, 4));
    CHECK(!task_find(k, -1));
    kernel_free(k);
}
