/* Terminals: line discipline, pseudo-terminals, job control. */
#include "kernel/tty.h"

#include "test.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

/* A kernel with one pair and a process. */
struct pair {
    struct kernel *k;
    struct file *master, *slave;
    struct tty *tty;
    struct task *t;
};

static struct pair
pair_new(void)
{
    struct pair p = {.k = world_new()};

    p.t = world_child(p.k, NULL);
    CHECK_EQ(pty_new_pair(p.k, &p.master, &p.tty), 0);
    CHECK_EQ(tty_open(p.tty, NULL, O_RDWR, &p.slave), 0);
    return p;
}

static void
pair_free(struct pair *p)
{
    file_put(p->slave);
    file_put(p->master);
    kernel_free(p->k);
}

static void
set_flags(struct pair *p, uint32_t lflag_off, uint32_t lflag_on)
{
    struct tty_termios tio;

    tty_get_termios(p->tty, &tio);
    tio.lflag = (tio.lflag & ~lflag_off) | lflag_on;
    tty_set_termios(p->tty, &tio);
}

static void
set_iflag(struct pair *p, uint32_t on)
{
    struct tty_termios tio;

    tty_get_termios(p->tty, &tio);
    tio.iflag |= on;
    tty_set_termios(p->tty, &tio);
}

static void
set_oflag(struct pair *p, uint32_t oflag)
{
    struct tty_termios tio;

    tty_get_termios(p->tty, &tio);
    tio.oflag = oflag;
    tty_set_termios(p->tty, &tio);
}

static void
set_raw(struct pair *p, uint8_t min, uint8_t time)
{
    struct tty_termios tio;

    tty_get_termios(p->tty, &tio);
    tio.lflag = 0;
    tio.iflag = 0;
    tio.oflag = 0;
    tio.cc[VMIN] = min;
    tio.cc[VTIME] = time;
    tty_set_termios(p->tty, &tio);
}

static void
type(struct pair *p, const char *text)
{
    CHECK_EQ(world_write(p->master, NULL, text), strlen(text));
}

static int64_t
control(struct file *f, struct task *t, uint32_t cmd, uint32_t arg)
{
    return f->ops->ioctl(f, t, cmd, arg);
}

/* ioctl with an int in guest memory. */
static int64_t
control_int(struct file *f, struct task *t, uint32_t cmd, int32_t *value)
{
    memcpy(world_at(t, 1024), value, sizeof *value);
    int64_t r = control(f, t, cmd, 1024);
    memcpy(value, world_at(t, 1024), sizeof *value);
    return r;
}

#define READS(text)  CHECK(world_reads(p.slave, NULL, text))
#define SHOWS(text)  CHECK(world_reads(p.master, NULL, text))
#define WAITS(f)     CHECK_EQ(world_read(f, NULL, (char[9]){0}, 9), -EAGAIN)
#define POLLS(f, ev) CHECK_EQ((f)->ops->poll(f, NULL) & (ev), ev)

/* --- canonical mode */

TEST(tty_reads_come_line_by_line)
{
    struct pair p = pair_new();

    type(&p, "one\ntw");
    READS("one\n");
    WAITS(p.slave);
    type(&p, "o\n\n");
    READS("two\n");
    READS("\n");
    WAITS(p.slave);
    pair_free(&p);
}

TEST(tty_short_read_leaves_the_rest_of_the_line)
{
    struct pair p = pair_new();
    char buf[3];

    type(&p, "abcdef\n");
    CHECK_EQ(world_read(p.slave, NULL, buf, 3), 3);
    READS("def\n");
    pair_free(&p);
}

TEST(tty_end_of_file_ends_a_read_once)
{
    struct pair p = pair_new();
    char buf[4];

    type(&p, "\x04part\x04"
             "abcd\x04\x04z\n");
    READS("");
    READS("part");
    /* The mark right after a full buffer goes with it. */
    CHECK_EQ(world_read(p.slave, NULL, buf, 4), 4);
    READS("");
    READS("z\n");
    pair_free(&p);
}

TEST(tty_erases_characters_words_and_lines)
{
    struct pair p = pair_new();

    type(&p, "ab\x7f\x7f\x7fok\n");
    READS("ok\n");
    type(&p, "one two  \x17three\n");
    READS("one three\n");
    type(&p, "gone\x15new\n");
    READS("new\n");
    type(&p, "first\n\x15\x7fsecond\n");
    READS("first\n");
    READS("second\n");
    pair_free(&p);
}

TEST(tty_erases_whole_utf8_characters_with_iutf8)
{
    struct pair p = pair_new();

    set_iflag(&p, IUTF8);
    type(&p, "a\xe2\x82\xac\x7f\n");
    READS("a\n");
    SHOWS("a\xe2\x82\xac\b \b\r\n");
    pair_free(&p);
}

TEST(tty_literal_next_takes_the_character_as_it_is)
{
    struct pair p = pair_new();

    set_flags(&p, ECHO, 0);
    type(&p, "a\x16\x7f\x16\x03\x16\x04\n");
    READS("a\x7f\x03\x04\n");
    pair_free(&p);
}

TEST(tty_cuts_a_line_that_is_too_long_and_can_end_it)
{
    struct pair p = pair_new();
    char buf[5000];
    int64_t n;

    set_flags(&p, ECHO, 0);
    for (int i = 0; i < 500; i++)
        type(&p, "0123456789");
    type(&p, "\n");
    n = world_read(p.slave, NULL, buf, sizeof buf);
    CHECK_EQ(n, 4096);
    CHECK_EQ(buf[n - 1], '\n');
    pair_free(&p);
}

TEST(tty_full_of_lines_makes_the_master_wait)
{
    struct pair p = pair_new();
    char text[4096];

    set_flags(&p, ECHO, 0);
    memset(text, '\n', sizeof text);
    CHECK_EQ(p.master->ops->write(p.master, NULL, text, sizeof text, NULL),
             4095);
    CHECK_EQ(world_write(p.master, NULL, "x"), -EAGAIN);
    CHECK_EQ(p.master->ops->poll(p.master, NULL) & POLLOUT, 0);
    CHECK_EQ(world_write(p.master, NULL, "\x03"), 1); /* flushes */
    WAITS(p.slave);
    POLLS(p.master, POLLOUT);
    pair_free(&p);
}

/* A typed byte may take as long as the line that it edits. */
TEST(tty_takes_long_input_in_steps)
{
    enum { BUF = 4096, LONG = 10000 };
    struct pair p = pair_new();
    int fd = fd_install(p.t, file_get(p.master), 0, false);

    memset(world_at(p.t, BUF), 18, LONG); /* reprint */
    type(&p, "a long line");
    p.master->flags |= O_NONBLOCK;
    CHECK_EQ(SYS(p.t, NR_write, (uint32_t)fd, BUF, LONG), 4096);
    p.master->flags &= ~(uint32_t)O_NONBLOCK;
    CHECK_EQ(SYS(p.t, NR_write, (uint32_t)fd, BUF, LONG), -EWAIT);
    CHECK(world_is_woken(p.t));
    CHECK_EQ(SYS(p.t, NR_write, (uint32_t)fd, BUF, LONG), -EWAIT);
    CHECK_EQ(SYS(p.t, NR_write, (uint32_t)fd, BUF, LONG), LONG);
    pair_free(&p);
}

/* --- echo */

TEST(tty_echoes_as_the_flags_say)
{
    struct pair p = pair_new();

    type(&p, "a\x01\x7f\x7f\n");
    SHOWS("a^A\b \b\b \b\b \b\r\n");
    set_flags(&p, ECHOCTL, 0);
    type(&p, "\x01\x7f\n");
    SHOWS("\x01\r\n");
    set_flags(&p, ECHO, ECHONL | ECHOCTL);
    type(&p, "quiet\n");
    SHOWS("\r\n");
    set_flags(&p, ECHONL | ECHOE, ECHO);
    type(&p, "a\x7f\n");
    SHOWS("a^?\r\n");
    pair_free(&p);
}

TEST(tty_kill_is_shown_as_the_flags_say)
{
    struct pair p = pair_new();

    type(&p, "ab\x15");
    SHOWS("ab\b \b\b \b");
    set_flags(&p, ECHOKE, 0);
    type(&p, "ab\x15");
    SHOWS("ab^U\r\n");
    set_flags(&p, ECHOK, 0);
    type(&p, "ab\x15");
    SHOWS("ab^U");
    pair_free(&p);
}

TEST(tty_rubs_out_a_tab_to_where_it_began)
{
    struct pair p = pair_new();

    CHECK_EQ(world_write(p.slave, NULL, "$ "), 2); /* a prompt */
    type(&p, "a\t\x7f");
    SHOWS("$ a\t\b\b\b\b\b");
    pair_free(&p);
}

TEST(tty_reprints_the_line)
{
    struct pair p = pair_new();

    type(&p, "ab\x12");
    SHOWS("ab^R\r\nab");
    pair_free(&p);
}

/* --- input and output processing */

TEST(tty_maps_input_newlines)
{
    struct pair p = pair_new();
    struct tty_termios tio;

    set_flags(&p, ICANON | ECHO, 0);
    type(&p, "a\rb\n");
    READS("a\nb\n");
    tty_get_termios(p.tty, &tio);
    tio.iflag = INLCR;
    tty_set_termios(p.tty, &tio);
    type(&p, "a\rb\n");
    READS("a\rb\r");
    tio.iflag = IGNCR;
    tty_set_termios(p.tty, &tio);
    type(&p, "a\rb\n");
    READS("ab\n");
    pair_free(&p);
}

TEST(tty_processes_output)
{
    struct pair p = pair_new();

    CHECK_EQ(world_write(p.slave, NULL, "a\nb\r\n"), 5);
    SHOWS("a\r\nb\r\r\n");
    set_oflag(&p, OPOST | OCRNL);
    CHECK_EQ(world_write(p.slave, NULL, "a\rb\n"), 4);
    SHOWS("a\nb\n");
    set_oflag(&p, OPOST | ONLCR | XTABS);
    CHECK_EQ(world_write(p.slave, NULL, "\nab\tc"), 5);
    SHOWS("\r\nab      c");
    set_oflag(&p, OPOST | ONOCR | ONLCR);
    CHECK_EQ(world_write(p.slave, NULL, "\n\rx\r"), 4);
    SHOWS("\r\nx\r");
    set_oflag(&p, ONLCR);
    CHECK_EQ(world_write(p.slave, NULL, "a\n"), 2);
    SHOWS("a\n");
    pair_free(&p);
}

TEST(tty_full_output_makes_the_writer_wait)
{
    struct pair p = pair_new();
    char text[10000];
    int64_t n;

    memset(text, 'x', sizeof text);
    n = p.slave->ops->write(p.slave, NULL, text, sizeof text, NULL);
    CHECK(n > 4096 && n < 10000);
    CHECK_EQ(world_write(p.slave, NULL, "y"), -EAGAIN);
    CHECK_EQ(p.slave->ops->poll(p.slave, NULL) & POLLOUT, 0);
    type(&p, "echo"); /* has room of its own */
    CHECK_EQ(world_read(p.master, NULL, text, sizeof text), n + 4);
    CHECK_EQ(world_write(p.slave, NULL, "y"), 1);
    pair_free(&p);
}

TEST(tty_stop_and_start_characters_hold_output)
{
    struct pair p = pair_new();

    type(&p, "\x13");
    CHECK_EQ(world_write(p.slave, NULL, "x"), -EAGAIN);
    WAITS(p.master);
    type(&p, "\x11");
    CHECK_EQ(world_write(p.slave, NULL, "x"), 1);
    SHOWS("x");
    set_iflag(&p, IXANY);
    type(&p, "\x13");
    type(&p, "a");
    CHECK_EQ(world_write(p.slave, NULL, "x"), 1);
    type(&p, "\x13");
    set_raw(&p, 1, 0); /* without IXON nothing holds it */
    CHECK_EQ(world_write(p.slave, NULL, "x"), 1);
    pair_free(&p);
}

/* --- raw mode */

TEST(tty_raw_read_waits_for_vmin_bytes)
{
    struct pair p = pair_new();
    char c;

    set_raw(&p, 3, 0);
    type(&p, "ab");
    WAITS(p.slave);
    CHECK_EQ(p.slave->ops->poll(p.slave, NULL) & POLLIN, 0);
    CHECK_EQ(world_read(p.slave, NULL, &c, 1), 1); /* as much as it asks for */
    type(&p, "cd");
    POLLS(p.slave, POLLIN);
    READS("bcd");
    set_raw(&p, 0, 0);
    READS("");
    pair_free(&p);
}

TEST(tty_raw_read_ends_after_a_gap_between_bytes)
{
    struct pair p = pair_new();

    set_raw(&p, 5, 2);
    WAITS(p.slave);
    type(&p, "ab");
    WAITS(p.slave);
    clock_jump(&p.k->clock, CLOCK_START_NS + 100 * NS_PER_MS);
    type(&p, "c");
    clock_jump(&p.k->clock, CLOCK_START_NS + 250 * NS_PER_MS);
    WAITS(p.slave);
    clock_jump(&p.k->clock, CLOCK_START_NS + 300 * NS_PER_MS);
    clock_fire(&p.k->clock);
    READS("abc");
    pair_free(&p);
}

TEST(tty_raw_read_ends_after_vtime_without_vmin)
{
    struct pair p = pair_new();
    char c;

    set_raw(&p, 0, 1);
    CHECK_EQ(world_read(p.slave, p.t, &c, 1), -EAGAIN);
    clock_jump(&p.k->clock, CLOCK_START_NS + 100 * NS_PER_MS);
    CHECK_EQ(world_read(p.slave, p.t, &c, 1), 0);
    pair_free(&p);
}

TEST(tty_raw_reads_wait_at_the_end_of_time)
{
    struct pair p = pair_new();
    char c;

    clock_jump(&p.k->clock, NS_NEVER);
    set_raw(&p, 0, 1);
    CHECK_EQ(world_read(p.slave, p.t, &c, 1), -EAGAIN);
    set_raw(&p, 5, 1);
    type(&p, "ab");
    WAITS(p.slave);
    pair_free(&p);
}

TEST(tty_mode_change_keeps_what_was_typed)
{
    struct pair p = pair_new();

    type(&p, "part");
    WAITS(p.slave);
    set_flags(&p, ICANON, 0);
    READS("part");
    type(&p, "more");
    set_flags(&p, 0, ICANON);
    READS("more");
    pair_free(&p);
}

/* --- pairs */

TEST(pty_is_locked_numbered_and_found)
{
    struct kernel *k = world_new();
    struct task *t = world_child(k, NULL);
    struct file *m, *m2, *s;
    int32_t n = -1, zero = 0;

    CHECK_EQ(pty_open_master(k, t, O_RDWR, &m), 0);
    CHECK_EQ(pty_open_master(k, t, O_RDWR, &m2), 0);
    CHECK_EQ(control_int(m2, t, TIOCGPTN, &n), 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(tty_open(tty_find(k, 1), t, O_RDWR, &s), -EIO);
    CHECK_EQ(control_int(m2, t, TIOCSPTLCK, &zero), 0);
    CHECK_EQ(tty_open(tty_find(k, 1), t, O_RDWR | O_NOCTTY, &s), 0);
    CHECK_EQ(control_int(s, t, TIOCGPTN, &n), -ENOTTY);
    file_put(m);
    CHECK(!tty_find(k, 0));
    CHECK_EQ(tty_next_index(k, 0), 1);
    file_put(s);
    file_put(m2);
    kernel_free(k);
}

TEST(pty_master_sees_the_last_slave_close)
{
    struct pair p = pair_new();
    char c;

    CHECK_EQ(world_write(p.slave, NULL, "bye"), 3);
    file_put(p.slave);
    SHOWS("bye");
    CHECK_EQ(world_read(p.master, NULL, &c, 1), -EIO);
    POLLS(p.master, POLLHUP);
    CHECK_EQ(tty_open(p.tty, NULL, O_RDWR, &p.slave), 0);
    WAITS(p.master);
    CHECK_EQ(p.master->ops->poll(p.master, NULL) & POLLHUP, 0);
    pair_free(&p);
}

TEST(pty_slave_hangs_up_with_the_master)
{
    struct pair p = pair_new();
    int32_t n;

    file_put(p.master);
    p.master = NULL;
    READS("");
    CHECK_EQ(world_write(p.slave, NULL, "x"), -EIO);
    POLLS(p.slave, POLLHUP | POLLERR | POLLIN);
    CHECK_EQ(control_int(p.slave, p.t, TIOCINQ, &n), -EIO);
    CHECK(!tty_find(p.k, 0));
    pair_free(&p);
}

TEST(pty_packet_mode_marks_data)
{
    struct pair p = pair_new();
    int32_t on = 1;
    char buf[8];

    CHECK_EQ(control_int(p.master, p.t, TIOCPKT, &on), 0);
    CHECK_EQ(world_write(p.slave, NULL, "hi"), 2);
    CHECK_EQ(world_read(p.master, NULL, buf, sizeof buf), 3);
    CHECK(!memcmp(buf, "\0hi", 3));
    pair_free(&p);
}

TEST(pty_number_is_limited)
{
    struct kernel *k = world_new();
    struct file *m[65] = {0};
    struct tty *tty;
    int n = 0;

    while (n < 65 && pty_new_pair(k, &m[n], &tty) == 0)
        n++;
    CHECK_EQ(n, 64);
    CHECK_EQ(pty_new_pair(k, &m[n], &tty), -ENOSPC);
    while (n--)
        file_put(m[n]);
    kernel_free(k);
}

/* Those that are hung up are no longer counted, but kept by open slaves. */
TEST(pty_memory_is_charged_as_long_as_a_slave_is_open)
{
    enum { N = 3, KEPT_BYTES = N * (16 << 10) };
    struct kernel *k = world_new();
    struct file *m, *s[N];
    struct tty *tty;

    for (int i = 0; i < N; i++) {
        CHECK_EQ(pty_new_pair(k, &m, &tty), 0);
        CHECK_EQ(tty_open(tty, NULL, O_RDWR, &s[i]), 0);
        file_put(m);
    }
    CHECK(k->limits.used[LIMIT_memory] >= KEPT_BYTES);
    k->limits.max[LIMIT_memory] = k->limits.used[LIMIT_memory];
    CHECK_EQ(pty_new_pair(k, &m, &tty), -ENOMEM);
    for (int i = 0; i < N; i++)
        file_put(s[i]);
    CHECK_EQ(k->limits.used[LIMIT_memory], 0);
    kernel_free(k);
}

TEST(pty_constructors_survive_lack_of_memory)
{
    struct kernel *k = world_new();

    EACH_OOM(oom) {
        struct file *m = NULL, *s = NULL;
        struct tty *tty;
        int r = pty_new_pair(k, &m, &tty);
        if (r == 0)
            r = tty_open(tty, NULL, O_RDWR, &s);
        CHECK(r == 0 || r == -ENOMEM);
        file_put(s);
        file_put(m);
    }
    CHECK_EQ(tty_next_index(k, 0), -1);
    kernel_free(k);
}

/* --- sessions and job control */

/* A session leader with the terminal, and a job in its own group. */
struct session {
    struct pair p;
    struct task *leader, *job;
};

static struct session
session_new(void)
{
    struct session s = {.p = pair_new()};

    s.leader = s.p.t;
    world_setsid(s.leader);
    CHECK_EQ(tty_set_session(s.p.tty, s.leader), 0);
    s.job = world_child(s.p.k, s.leader);
    s.job->pgid = s.job->pid;
    return s;
}

static bool
is_stopped_by(const struct task *t, int sig)
{
    return t->is_stopped && t->stop_signal == sig;
}

static struct task *
next_of(struct kernel *k)
{
    return CONTAINER_OF(k->run_queue.next, struct thread, run_link)->owner;
}

TEST(a_forked_child_of_a_session_with_a_terminal_runs_first)
{
    struct session s = session_new();
    struct task *other = world_task(s.p.k);

    s.p.k->boosts = 1000; /* however many were put in front before */
    task_fork(s.leader->thread);
    CHECK_EQ(next_of(s.p.k)->pid, fake_of(s.leader->thread)->fork_result);
    sched_remove(s.leader->thread);
    task_fork(other->thread);
    CHECK(next_of(s.p.k) == other);
    pair_free(&s.p);
}

TEST(tty_signals_reach_the_foreground_group_only)
{
    struct session s = session_new();
    int32_t pgid = s.job->pgid, pid = s.job->pid;

    s.leader->sig.action[SIGTTOU].handler = GUEST_SIG_IGN;
    CHECK_EQ(control_int(s.p.slave, s.leader, TIOCSPGRP, &pgid), 0);
    type(&s.p, "\x1a");
    CHECK(is_stopped_by(s.job, SIGTSTP));
    type(&s.p, "\x03");
    CHECK(!s.leader->is_zombie && !s.leader->is_stopped);
    task_continue(s.job);
    type(&s.p, "lost\x03");
    s.job = task_find(s.p.k, pid);
    CHECK(!s.job || s.job->is_zombie);
    WAITS(s.p.slave);
    pair_free(&s.p);
}

TEST(tty_background_read_stops_the_group)
{
    struct session s = session_new();
    char c;

    type(&s.p, "x\n");
    CHECK_EQ(world_read(s.p.slave, s.job, &c, 1), -EWAIT);
    CHECK(is_stopped_by(s.job, SIGTTIN));
    task_continue(s.job);
    s.job->sig.action[SIGTTIN].handler = GUEST_SIG_IGN;
    CHECK_EQ(world_read(s.p.slave, s.job, &c, 1), -EIO);
    CHECK_EQ(world_read(s.p.slave, s.leader, &c, 1), 1);
    pair_free(&s.p);
}

TEST(tty_background_write_stops_only_with_tostop)
{
    struct session s = session_new();

    CHECK_EQ(world_write(s.p.slave, s.job, "x"), 1);
    set_flags(&s.p, 0, TOSTOP);
    CHECK_EQ(world_write(s.p.slave, s.job, "x"), -EWAIT);
    CHECK(is_stopped_by(s.job, SIGTTOU));
    task_continue(s.job);
    s.job->sig.first.mask = SIG_BIT(SIGTTOU);
    CHECK_EQ(world_write(s.p.slave, s.job, "x"), 1);
    pair_free(&s.p);
}

TEST(tty_background_group_without_parent_gets_eio)
{
    struct session s = session_new();
    char c;

    s.leader->pgid = s.job->pgid; /* nobody outside the group any more */
    CHECK_EQ(world_read(s.p.slave, s.job, &c, 1), -EIO);
    CHECK(!s.job->is_stopped);
    pair_free(&s.p);
}

TEST(tty_foreground_group_is_checked)
{
    struct session s = session_new();
    int32_t bad = -1, none = 9999, alien, pgid = 0;
    struct task *other = world_child(s.p.k, NULL);

    world_setsid(other);
    alien = other->pgid;
    CHECK_EQ(control_int(s.p.slave, s.leader, TIOCSPGRP, &bad), -EINVAL);
    CHECK_EQ(control_int(s.p.slave, s.leader, TIOCSPGRP, &none), -ESRCH);
    CHECK_EQ(control_int(s.p.slave, s.leader, TIOCSPGRP, &alien), -EPERM);
    CHECK_EQ(control_int(s.p.slave, other, TIOCSPGRP, &alien), -ENOTTY);
    CHECK_EQ(control_int(s.p.slave, other, TIOCGPGRP, &pgid), -ENOTTY);
    CHECK_EQ(control_int(s.p.master, other, TIOCGPGRP, &pgid), 0);
    CHECK_EQ(pgid, s.leader->pgid);
    CHECK_EQ(control_int(s.p.slave, s.leader, TIOCGSID, &pgid), 0);
    CHECK_EQ(pgid, s.leader->sid);
    pair_free(&s.p);
}

TEST(tty_opened_by_a_leader_becomes_controlling)
{
    struct pair p = pair_new();
    struct file *f, *cur;

    CHECK_EQ(tty_open_current(p.k, p.t, O_RDWR, &cur), -ENXIO);
    world_setsid(p.t);
    CHECK_EQ(tty_open(p.tty, p.t, O_RDWR | O_NOCTTY, &f), 0);
    CHECK(!p.t->ctty);
    file_put(f);
    CHECK_EQ(tty_open(p.tty, p.t, O_RDWR, &f), 0);
    CHECK(p.t->ctty == p.tty);
    CHECK_EQ(tty_foreground(p.tty), p.t->pgid);
    CHECK_EQ(tty_open_current(p.k, p.t, O_RDWR, &cur), 0);
    CHECK_EQ(world_write(cur, p.t, "x"), 1);
    p.t->sig.action[SIGHUP].handler = GUEST_SIG_IGN;
    CHECK_EQ(control(f, p.t, TIOCNOTTY, 0), 0);
    CHECK(!p.t->ctty);
    CHECK_EQ(control(f, p.t, TIOCSCTTY, 0), 0);
    CHECK_EQ(control(f, p.t, TIOCSCTTY, 0), 0);
    file_put(cur);
    file_put(f);
    pair_free(&p);
}

TEST(tty_leader_exit_hangs_up_the_foreground)
{
    struct session s = session_new();
    int32_t pid = s.job->pid;

    s.leader->sig.action[SIGTTOU].handler = GUEST_SIG_IGN;
    CHECK_EQ(control_int(s.p.slave, s.leader, TIOCSPGRP, &pid), 0);
    task_exit(s.leader, 0);
    s.job = task_find(s.p.k, pid);
    CHECK(!s.job || s.job->is_zombie);
    CHECK_EQ(tty_foreground(s.p.tty), 0);
    pair_free(&s.p);
}

TEST(tty_hangup_ends_the_session)
{
    struct session s = session_new();
    int32_t pid = s.leader->pid;

    s.job->sig.action[SIGHUP].handler = GUEST_SIG_IGN;
    file_put(s.p.master);
    s.p.master = NULL;
    s.leader = task_find(s.p.k, pid);
    CHECK(!s.leader || s.leader->is_zombie);
    CHECK(!s.job->ctty);
    pair_free(&s.p);
}

TEST(tty_window_size_is_told_once)
{
    struct session s = session_new();
    struct tty_winsize ws = {25, 80, 0, 0}, got;

    s.leader->sig.action[SIGWINCH].handler = 100;
    memcpy(world_at(s.leader, 64), &ws, sizeof ws);
    CHECK_EQ(control(s.p.slave, s.leader, TIOCSWINSZ, 64), 0);
    CHECK(s.leader->sig.pending.set & SIG_BIT(SIGWINCH));
    struct siginfo_k si;
    CHECK_EQ(signal_take(s.leader, SIG_BIT(SIGWINCH), &si), SIGWINCH);
    tty_set_winsize(s.p.tty, &ws);
    CHECK_EQ(s.leader->sig.pending.set, 0);
    CHECK_EQ(control(s.p.master, s.leader, TIOCGWINSZ, 128), 0);
    memcpy(&got, world_at(s.leader, 128), sizeof got);
    CHECK_EQ(got.cols, 80);
    pair_free(&s.p);
}

TEST(tty_ioctls_carry_the_kernels_termios)
{
    struct pair p = pair_new();
    struct tty_termios tio;
    uint8_t *guard = world_at(p.t, 256 + 36);

    CHECK_EQ(sizeof tio, 36);
    *guard = 0x5a;
    CHECK_EQ(control(p.slave, p.t, TCGETS, 256), 0);
    CHECK_EQ(*guard, 0x5a);
    memcpy(&tio, world_at(p.t, 256), sizeof tio);
    CHECK(tio.lflag & ICANON);
    type(&p, "unread\n");
    tio.lflag &= ~(uint32_t)ECHO;
    memcpy(world_at(p.t, 256), &tio, sizeof tio);
    CHECK_EQ(control(p.slave, p.t, TCSETSF, 256), 0);
    WAITS(p.slave);
    CHECK_EQ(control(p.slave, p.t, TCGETS, FAKE_MEMORY_BYTES - 8), -EFAULT);
    CHECK_EQ(control(p.slave, p.t, TIOCSTI, 256), -EPERM);
    CHECK_EQ(control(p.slave, p.t, TCFLSH, 77), -EINVAL);
    CHECK_EQ(control(p.slave, p.t, 0x1234, 0), -ENOTTY);
    pair_free(&p);
}
