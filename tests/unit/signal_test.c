/* Signals: queues, masks, default actions, delivery. */
#include "world.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { RT = 34, WORD = 128, INFO = 256, SET = 1024, HANDLER = 100 };

/* What signext hands over, as guest/musl has it. */
struct taken {
    int32_t sig;
    uint32_t handler, flags, old_mask[2];
    int32_t info[32];
};

static void
handle(struct task *t, int sig, uint32_t flags)
{
    t->sig.action[sig] = (struct sigaction_k){HANDLER, flags, 0};
}

static int
send(struct task *t, int sig, uint32_t value)
{
    struct siginfo_k si = {.signo = sig, .code = SI_QUEUE, .value = value};

    return signal_send(t, &si);
}

/* The next signal that the guest takes; 0: none. */
static int
next(struct task *t, struct taken *ret)
{
    struct taken g = {0};

    if (thread_signext(t->thread, INFO))
        memcpy(&g, world_at(t, INFO), sizeof g);
    if (ret)
        *ret = g;
    return g.sig;
}

static int32_t
word(struct task *t)
{
    int32_t w;

    memcpy(&w, world_at(t, WORD), sizeof w);
    return w;
}

TEST(signal_plain_ones_coalesce)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct taken g;

    handle(t, SIGUSR1, 0);
    CHECK_EQ(send(t, SIGUSR1, 1), 0);
    CHECK_EQ(send(t, SIGUSR1, 2), 0);
    CHECK_EQ(k->limits.used[LIMIT_sigqueue], 1);
    CHECK_EQ(next(t, &g), SIGUSR1);
    CHECK_EQ(g.handler, HANDLER);
    CHECK_EQ(g.info[5], 1);
    CHECK_EQ(next(t, NULL), 0);
    CHECK_EQ(k->limits.used[LIMIT_sigqueue], 0);
    kernel_free(k);
}

TEST(signal_realtime_ones_queue_in_order_lowest_first)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    const uint32_t want[] = {5, 6, 1, 2};
    struct taken g;

    handle(t, RT, GSA_NODEFER);
    handle(t, RT + 1, GSA_NODEFER);
    (void)send(t, RT + 1, 1);
    (void)send(t, RT + 1, 2);
    (void)send(t, RT, 5);
    (void)send(t, RT, 6);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(next(t, &g), i < 2 ? RT : RT + 1);
        CHECK_EQ(g.info[5], want[i]);
    }
    CHECK_EQ(t->sig.pending.set, 0);
    kernel_free(k);
}

TEST(signal_full_queue_refuses_realtime_and_keeps_plain_ones)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct taken g;

    k->limits.max[LIMIT_sigqueue] = 2;
    handle(t, RT, 0);
    handle(t, SIGUSR1, 0);
    CHECK_EQ(send(t, RT, 1), 0);
    CHECK_EQ(send(t, RT, 2), 0);
    CHECK_EQ(send(t, RT, 3), -EAGAIN);
    CHECK(k->limits.was_hit[LIMIT_sigqueue]);
    CHECK_EQ(send(t, SIGUSR1, 9), 0);
    CHECK_EQ(next(t, &g), SIGUSR1);
    CHECK_EQ(g.info[5], 0);
    kernel_free(k);
}

TEST(signal_without_memory_is_still_sent)
{
    EACH_OOM(oom) {
        test_fail_alloc(0);
        struct kernel *k = world_new();
        struct task *t = world_task(k);
        handle(t, SIGUSR1, 0);
        handle(t, RT, 0);
        test_fail_alloc(oom);
        CHECK_EQ(send(t, SIGUSR1, 1), 0);
        CHECK_EQ(send(t, RT, 1), oom == 2 ? -EAGAIN : 0);
        bool failed = test_alloc_failed();
        CHECK_EQ(next(t, NULL), SIGUSR1);
        kernel_free(k);
        if (!failed)
            break;
    }
}

TEST(signal_word_shows_whether_a_handler_is_due)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    handle(t, SIGUSR1, 0);
    thread_sigword(t->thread, WORD);
    CHECK_EQ(word(t), 0);
    signals_set_mask(t, SIG_BIT(SIGUSR1));
    (void)send(t, SIGUSR1, 0);
    CHECK_EQ(word(t), 0);
    CHECK(!signal_is_due(t));
    signals_set_mask(t, 0);
    CHECK_EQ(word(t), 1);
    CHECK_EQ(next(t, NULL), SIGUSR1);
    CHECK_EQ(word(t), 0);
    thread_sigword(t->thread, FAKE_MEMORY_BYTES - 2);
    (void)send(t, SIGUSR1, 0);
    CHECK_EQ(next(t, NULL), 0);
    kernel_free(k);
}

TEST(signal_handler_blocks_its_signal_and_its_mask)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct taken g;

    handle(t, SIGUSR1, 0);
    handle(t, SIGUSR2, 0);
    t->sig.action[SIGUSR1].mask = SIG_BIT(SIGUSR2) | SIG_BIT(SIGKILL);
    signals_set_mask(t, SIG_BIT(SIGHUP));
    (void)send(t, SIGUSR1, 0);
    CHECK_EQ(next(t, &g), SIGUSR1);
    CHECK_EQ(g.old_mask[0], SIG_BIT(SIGHUP));
    CHECK_EQ(t->sig.first.mask,
             SIG_BIT(SIGHUP) | SIG_BIT(SIGUSR1) | SIG_BIT(SIGUSR2));
    (void)send(t, SIGUSR1, 0);
    (void)send(t, SIGUSR2, 0);
    CHECK_EQ(next(t, NULL), 0);
    signals_set_mask(t, g.old_mask[0]);
    CHECK_EQ(next(t, NULL), SIGUSR1);
    kernel_free(k);
}

TEST(signal_nodefer_handler_may_be_interrupted_by_itself)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    handle(t, SIGUSR1, GSA_NODEFER);
    (void)send(t, SIGUSR1, 0);
    CHECK_EQ(next(t, NULL), SIGUSR1);
    CHECK_EQ(t->sig.first.mask, 0);
    (void)send(t, SIGUSR1, 0);
    CHECK_EQ(next(t, NULL), SIGUSR1);
    kernel_free(k);
}

TEST(signal_resethand_handler_runs_once)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    handle(t, SIGUSR1, GSA_RESETHAND | GSA_NODEFER);
    (void)send(t, SIGUSR1, 0);
    CHECK_EQ(next(t, NULL), SIGUSR1);
    CHECK_EQ(t->sig.action[SIGUSR1].handler, GUEST_SIG_DFL);
    (void)send(t, SIGUSR1, 0);
    CHECK(t->is_zombie);
    CHECK_EQ(t->exit_status, SIGUSR1);
    kernel_free(k);
}

TEST(signal_queued_behind_a_resethand_handler_acts_by_default)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    handle(t, RT, GSA_RESETHAND | GSA_NODEFER);
    (void)send(t, RT, 1);
    (void)send(t, RT, 2);
    (void)next(t, NULL);
    CHECK(t->is_zombie);
    CHECK_EQ(t->thread->leaving, LEAVE_EXIT);
    kernel_free(k);
}

TEST(signal_due_when_its_handler_goes_acts_by_default)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *u = world_task(k);

    handle(t, SIGTERM, 0);
    (void)send(t, SIGTERM, 0);
    CHECK_EQ(SYS(t, NR_rt_sigaction, SIGTERM, SET, 0, 8), 0);
    CHECK(t->is_zombie);
    handle(u, SIGCHLD, 0);
    (void)send(u, SIGCHLD, 0);
    CHECK_EQ(SYS(u, NR_rt_sigaction, SIGCHLD, SET, 0, 8), 0);
    CHECK_EQ(u->sig.pending.set, 0);
    CHECK(!u->is_zombie);
    kernel_free(k);
}

TEST(signal_default_actions)
{
    const uint64_t ignored = SIG_BIT(SIGCHLD) | SIG_BIT(SIGURG) |
                             SIG_BIT(SIGWINCH) | SIG_BIT(SIGCONT);
    const uint64_t stops = SIG_BIT(SIGSTOP) | SIG_BIT(SIGTSTP) |
                           SIG_BIT(SIGTTIN) | SIG_BIT(SIGTTOU);
    struct kernel *k = world_new();
    struct task *parent = world_task(k);

    for (int sig = 1; sig <= NSIG_MAX; sig++) {
        struct task *t = world_child(k, parent);
        t->pgid = t->pid;
        CHECK_EQ(send(t, sig, 0), 0);
        CHECK_EQ(t->is_stopped, (stops & SIG_BIT(sig)) != 0);
        CHECK_EQ(t->is_zombie, !((stops | ignored) & SIG_BIT(sig)));
        CHECK_EQ(t->exit_status, t->is_zombie ? sig : 0);
        CHECK_EQ(t->sig.pending.set, 0);
        (void)send(t, SIGKILL, 0);
        world_run(k);
        task_reap(t);
    }
    kernel_free(k);
}

TEST(signal_ignored_ones_are_dropped_unless_blocked)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    t->sig.action[SIGUSR1].handler = GUEST_SIG_IGN;
    (void)send(t, SIGUSR1, 0);
    CHECK_EQ(t->sig.pending.set, 0);
    signals_set_mask(t, SIG_BIT(SIGUSR1) | SIG_BIT(SIGCHLD));
    (void)send(t, SIGUSR1, 0);
    (void)send(t, SIGCHLD, 0);
    CHECK_EQ(t->sig.pending.set, SIG_BIT(SIGUSR1) | SIG_BIT(SIGCHLD));
    signals_set_mask(t, 0);
    CHECK_EQ(t->sig.pending.set, 0);
    kernel_free(k);
}

TEST(signal_kill_and_stop_cannot_be_blocked)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    signals_set_mask(t, ~UINT64_C(0));
    CHECK_EQ(t->sig.first.mask & (SIG_BIT(SIGKILL) | SIG_BIT(SIGSTOP)), 0);
    (void)send(t, SIGTERM, 0);
    CHECK(!t->is_zombie);
    (void)send(t, SIGSTOP, 0);
    CHECK(t->is_stopped);
    (void)send(t, SIGKILL, 0);
    CHECK(t->is_zombie);
    CHECK_EQ(t->exit_status, SIGKILL);
    kernel_free(k);
}

TEST(signal_stop_and_continue_cancel_each_other)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    handle(t, SIGCONT, 0);
    signals_set_mask(t, SIG_BIT(SIGCONT) | SIG_BIT(SIGTSTP));
    (void)send(t, SIGTSTP, 0);
    (void)send(t, SIGCONT, 0);
    CHECK_EQ(t->sig.pending.set, SIG_BIT(SIGCONT));
    (void)send(t, SIGTSTP, 0);
    CHECK_EQ(t->sig.pending.set, SIG_BIT(SIGTSTP));
    CHECK_EQ(k->limits.used[LIMIT_sigqueue], 1);
    kernel_free(k);
}

TEST(signal_stopped_task_dies_by_kill_at_once_and_by_others_later)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    (void)send(t, SIGSTOP, 0);
    (void)send(t, SIGTERM, 0);
    CHECK(t->is_stopped && !t->is_zombie);
    (void)send(t, SIGCONT, 0);
    CHECK(t->is_zombie);
    CHECK_EQ(t->exit_status, SIGTERM);
    kernel_free(k);
}

TEST(signal_handler_of_a_stopped_task_waits_for_continue)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    handle(t, SIGUSR1, 0);
    CHECK_EQ(SYS(t, NR_rt_sigsuspend, SET, 8), -EWAIT);
    (void)send(t, SIGSTOP, 0);
    (void)send(t, SIGUSR1, 0);
    CHECK(list_is_empty(&k->run_queue));
    (void)send(t, SIGCONT, 0);
    CHECK(!list_is_empty(&k->run_queue));
    CHECK_EQ(SYS(t, NR_rt_sigsuspend, SET, 8), -EINTR);
    CHECK_EQ(next(t, NULL), SIGUSR1);
    kernel_free(k);
}

TEST(signal_interrupts_a_waiting_call_or_restarts_it)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int32_t fds[2];

    CHECK_EQ(SYS(t, NR_pipe2, SET, 0), 0);
    memcpy(fds, world_at(t, SET), sizeof fds);
    handle(t, SIGUSR1, 0);
    handle(t, SIGUSR2, GSA_RESTART);
    CHECK_EQ(SYS(t, NR_read, (uint32_t)fds[0], SET, 1), -EWAIT);
    (void)send(t, SIGUSR1, 0);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_read, (uint32_t)fds[0], SET, 1), -EINTR);
    CHECK_EQ(next(t, NULL), SIGUSR1);
    CHECK_EQ(SYS(t, NR_read, (uint32_t)fds[0], SET, 1), -EWAIT);
    signals_set_mask(t, 0);
    (void)send(t, SIGUSR2, 0);
    CHECK_EQ(SYS(t, NR_read, (uint32_t)fds[0], SET, 1), -ERESTARTSYS);
    kernel_free(k);
}

TEST(signal_sigsuspend_gives_the_old_mask_back_after_the_handler)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint64_t none = 0;
    struct taken g;

    handle(t, SIGUSR1, 0);
    signals_set_mask(t, SIG_BIT(SIGUSR1) | SIG_BIT(SIGHUP));
    memcpy(world_at(t, SET), &none, sizeof none);
    CHECK_EQ(SYS(t, NR_rt_sigsuspend, SET, 8), -EWAIT);
    CHECK_EQ(t->sig.first.mask, 0);
    (void)send(t, SIGUSR1, 0);
    CHECK_EQ(SYS(t, NR_rt_sigsuspend, SET, 8), -EINTR);
    CHECK_EQ(next(t, &g), SIGUSR1);
    CHECK_EQ(g.old_mask[0], SIG_BIT(SIGUSR1) | SIG_BIT(SIGHUP));
    kernel_free(k);
}

TEST(signal_sigtimedwait_takes_a_signal_of_its_set)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint64_t set = SIG_BIT(SIGUSR1);

    memcpy(world_at(t, SET), &set, sizeof set);
    signals_set_mask(t, set);
    CHECK_EQ(SYS(t, NR_rt_sigtimedwait, SET, INFO, 0, 8), -EWAIT);
    (void)send(t, SIGUSR1, 0);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_rt_sigtimedwait, SET, INFO, 0, 8), SIGUSR1);
    CHECK_EQ(*(int32_t *)world_at(t, INFO), SIGUSR1);
    CHECK_EQ(t->sig.first.wait_set, 0);
    kernel_free(k);
}

TEST(signal_of_an_interrupted_sigtimedwait_acts_again)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint64_t set = SIG_BIT(SIGUSR1);

    memcpy(world_at(t, SET), &set, sizeof set);
    handle(t, SIGUSR2, 0);
    CHECK_EQ(SYS(t, NR_rt_sigtimedwait, SET, INFO, 0, 8), -EWAIT);
    (void)send(t, SIGUSR2, 0);
    CHECK_EQ(SYS(t, NR_rt_sigtimedwait, SET, INFO, 0, 8), -EINTR);
    (void)send(t, SIGUSR1, 0);
    CHECK(t->is_zombie);
    kernel_free(k);
}

TEST(signal_fork_copies_actions_and_mask_and_nothing_pending)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    handle(t, SIGUSR1, GSA_RESTART);
    signals_set_mask(t, SIG_BIT(SIGUSR1));
    (void)send(t, SIGUSR1, 0);
    struct task *c = world_child(k, t);
    CHECK_EQ(c->sig.pending.set, 0);
    CHECK_EQ(c->sig.first.mask, SIG_BIT(SIGUSR1));
    CHECK_EQ(c->sig.action[SIGUSR1].handler, HANDLER);
    kernel_free(k);
}

TEST(signal_exec_resets_handlers_and_keeps_ignored_mask_and_pending)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    handle(t, SIGUSR1, GSA_RESTART);
    t->sig.action[SIGUSR2].handler = GUEST_SIG_IGN;
    signals_set_mask(t, SIG_BIT(SIGUSR1));
    (void)send(t, SIGUSR1, 0);
    signals_exec(t);
    CHECK_EQ(t->sig.action[SIGUSR1].handler, GUEST_SIG_DFL);
    CHECK_EQ(t->sig.action[SIGUSR1].flags, 0);
    CHECK_EQ(t->sig.action[SIGUSR2].handler, GUEST_SIG_IGN);
    CHECK_EQ(t->sig.pending.set, SIG_BIT(SIGUSR1));
    CHECK_EQ(t->sig.first.mask, SIG_BIT(SIGUSR1));
    kernel_free(k);
}

TEST(signal_group_reaches_every_member)
{
    struct kernel *k = world_new();
    struct task *a = world_task(k), *b = world_task(k), *c = world_task(k);
    struct siginfo_k si = {.signo = SIGTERM};

    a->pgid = b->pgid = 500;
    c->pgid = 501;
    CHECK_EQ(signal_send_group(k, 500, &si), 0);
    CHECK(a->is_zombie && b->is_zombie && !c->is_zombie);
    CHECK_EQ(signal_send_group(k, 777, &si), -ESRCH);
    kernel_free(k);
}

TEST(signal_that_cannot_be_handed_over_ends_the_process)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    handle(t, SIGUSR1, 0);
    (void)send(t, SIGUSR1, 0);
    CHECK_EQ(thread_signext(t->thread, FAKE_MEMORY_BYTES - 8), 0);
    CHECK(t->is_zombie);
    CHECK_EQ(t->exit_status & 0x7f, SIGSEGV);
    kernel_free(k);
}
