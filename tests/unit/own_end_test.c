/* Processes that end in the middle of a call of their own, by a signal that the
 * call itself has caused. */
#include "world.h"

#include "kernel/socket.h"
#include "kernel/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>

enum { PATH = 64, ARG = 128, FDS = 256, IOV = 512, BUF = 4096 };

static void
put_mask(struct task *t, uint64_t mask)
{
    memcpy(world_at(t, ARG), &mask, sizeof mask);
}

/* A process that is blocked, and pending, is one that ends when it is let in.
 */
static void
block_and_raise(struct task *t, int sig)
{
    put_mask(t, SIG_BIT(sig));
    CHECK_EQ(SYS(t, NR_rt_sigprocmask, SIG_BLOCK, ARG, 0, 8), 0);
    CHECK_EQ(SYS(t, NR_kill, (uint32_t)t->pid, (uint32_t)sig), 0);
    CHECK(!t->is_zombie);
    put_mask(t, 0);
}

/* A vfork child of a new process. */
static struct task *
borrower(struct kernel *k)
{
    struct task *t = world_task(k);

    return task_find(k, SYS(t, NR_vfork));
}

/* Descriptor 0 is the master of its own controlling terminal, whose foreground
 * it is. */
static struct task *
with_own_terminal(struct kernel *k)
{
    struct task *t = world_task(k);
    int32_t on = 0;

    CHECK_EQ(world_mount_system(k), 0);
    world_setsid(t);
    world_str(t, PATH, "/dev/ptmx");
    CHECK_EQ(SYS(t, NR_openat, AT_FDCWD, PATH, O_RDWR | O_NOCTTY), 0);
    memcpy(world_at(t, ARG), &on, sizeof on);
    CHECK_EQ(SYS(t, NR_ioctl, 0, TIOCSPTLCK, ARG), 0);
    world_str(t, PATH, "/dev/pts/0");
    CHECK_EQ(SYS(t, NR_openat, AT_FDCWD, PATH, O_RDWR), 1);
    CHECK(t->ctty);
    return t;
}

TEST(own_end_in_sigprocmask_of_a_vfork_child)
{
    struct kernel *k = world_new();
    struct task *c = borrower(k);

    block_and_raise(c, SIGTERM);
    (void)SYS(c, NR_rt_sigprocmask, SIG_SETMASK, ARG, BUF, 8);
    CHECK(c->is_zombie);
    kernel_free(k);
}

TEST(own_end_in_sigaction_of_a_vfork_child)
{
    struct kernel *k = world_new();
    struct task *c = borrower(k);

    memset(world_at(c, BUF), 0, 20);
    memset(world_at(c, BUF), 9, 4); /* a handler */
    CHECK_EQ(SYS(c, NR_rt_sigaction, SIGTERM, BUF, 0, 8), 0);
    CHECK_EQ(SYS(c, NR_kill, (uint32_t)c->pid, SIGTERM), 0);
    memset(world_at(c, BUF), 0, 20);
    (void)SYS(c, NR_rt_sigaction, SIGTERM, BUF, BUF, 8);
    CHECK(c->is_zombie);
    kernel_free(k);
}

TEST(own_end_in_epoll_pwait)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(SYS(t, NR_epoll_create1, 0), 0);
    block_and_raise(t, SIGTERM);
    (void)SYS(t, NR_epoll_pwait, 0, BUF, 8, 0, ARG, 8);
    CHECK(t->is_zombie);
    kernel_free(k);
}

TEST(own_end_in_ppoll_of_a_vfork_child)
{
    struct kernel *k = world_new();
    struct task *c = borrower(k);

    block_and_raise(c, SIGTERM);
    (void)SYS(c, NR_ppoll, BUF, 0, 0, ARG, 8);
    CHECK(c->is_zombie);
    kernel_free(k);
}

TEST(own_end_by_a_typed_interrupt)
{
    struct kernel *k = world_new();
    struct task *t = with_own_terminal(k);

    world_str(t, BUF, "\003more");
    (void)SYS(t, NR_write, 0, BUF, 5);
    CHECK(t->is_zombie);
    kernel_free(k);
}

TEST(own_end_by_a_typed_interrupt_in_the_first_of_many_pieces)
{
    enum { LONG = 100 << 10 };
    struct kernel *k = world_new();
    struct task *t = with_own_terminal(k);
    const uint32_t iov[4] = {BUF, 1, BUF + 1, LONG};

    world_str(t, BUF, "\003");
    memcpy(world_at(t, IOV), iov, sizeof iov);
    (void)SYS(t, NR_writev, 0, IOV, 2);
    CHECK(t->is_zombie);
    kernel_free(k);
}

TEST(own_end_by_a_typed_interrupt_of_a_vfork_child)
{
    struct kernel *k = world_new();
    struct task *t = with_own_terminal(k);
    struct task *c = task_find(k, SYS(t, NR_vfork));

    world_setsid(c);
    c->sid = t->sid;
    c->ctty = tty_get(t->ctty);
    memcpy(world_at(t, ARG), &c->pid, sizeof c->pid);
    t->sig.action[SIGTTOU].handler = c->sig.action[SIGTTOU].handler =
        GUEST_SIG_IGN;
    CHECK_EQ(SYS(c, NR_ioctl, 1, TIOCSPGRP, ARG), 0);
    memset(world_at(t, BUF), 'x', 8192);
    world_str(t, BUF, "\003");
    (void)SYS(c, NR_write, 0, BUF, 8192);
    CHECK(c->is_zombie && !t->is_zombie);
    CHECK(!c->thread && t->thread->task == t);
    kernel_free(k);
}

TEST(own_end_in_sendfile_to_a_terminal)
{
    struct kernel *k = world_new();
    struct task *t = with_own_terminal(k);

    CHECK_EQ(world_file(k, "/typed", "\003more"), 0);
    world_str(t, PATH, "/typed");
    CHECK_EQ(SYS(t, NR_openat, AT_FDCWD, PATH, O_RDONLY), 2);
    (void)SYS(t, NR_sendfile64, 0, 2, 0, 5);
    CHECK(t->is_zombie);
    kernel_free(k);
}

TEST(own_end_when_the_last_master_is_replaced)
{
    struct kernel *k = world_new();
    struct task *t = with_own_terminal(k);

    (void)SYS(t, NR_dup3, 1, 0, 0);
    CHECK(t->is_zombie);
    kernel_free(k);
}

/* The master is in a message that a plain read throws away. */
TEST(own_end_when_the_last_master_is_read_away)
{
    struct kernel *k = world_new();
    struct task *t = with_own_terminal(k);
    int32_t fds[2];

    CHECK_EQ(SYS(t, NR_socketpair, AF_UNIX, SOCK_STREAM, 0, FDS), 0);
    memcpy(fds, world_at(t, FDS), sizeof fds);
    const uint32_t iov[2] = {BUF, 1}, cmsg[4] = {16, SOL_SOCKET, SCM_RIGHTS, 0};
    const uint32_t header[7] = {0, 0, IOV, 1, IOV + 64, sizeof cmsg, 0};
    memcpy(world_at(t, IOV), iov, sizeof iov);
    memcpy(world_at(t, IOV + 64), cmsg, sizeof cmsg);
    memcpy(world_at(t, IOV + 128), header, sizeof header);
    CHECK_EQ(SYS(t, NR_sendmsg, (uint32_t)fds[0], IOV + 128, 0), 1);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK(!t->is_zombie);
    (void)SYS(t, NR_read, (uint32_t)fds[1], BUF, 1);
    CHECK(t->is_zombie);
    kernel_free(k);
}
