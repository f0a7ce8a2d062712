/* Processes beside the shell. */
#include "event.h"
#include "shell_test.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* What a process has said. */
struct heard {
    pthread_mutex_t lock;
    char out[1 << 16], err[1 << 12];
    size_t out_len, err_len;
    struct event ended;
    int exit_code;
    bool has_room;
    size_t window;
    struct event asked; /* for room */
};

static void
hear(void *arg, uint64_t id, int stream, const void *data, size_t len)
{
    struct heard *h = arg;
    char *to = stream == 1 ? h->out : h->err;
    size_t *at = stream == 1 ? &h->out_len : &h->err_len;
    size_t max = stream == 1 ? sizeof h->out - 1 : sizeof h->err - 1;

    (void)id;
    pthread_mutex_lock(&h->lock);
    if (*at + len < max) {
        memcpy(to + *at, data, len);
        *at += len;
    }
    pthread_mutex_unlock(&h->lock);
}

static void
hear_end(void *arg, uint64_t id, int exit_code)
{
    struct heard *h = arg;

    (void)id;
    h->exit_code = exit_code;
    event_happen(&h->ended);
}

/* Waits until it has written `text` to standard output. */
static bool
says(struct heard *h, const char *text)
{
    time_t began = 0;

    for (;;) {
        pthread_mutex_lock(&h->lock);
        bool has = strstr(h->out, text) != NULL;
        pthread_mutex_unlock(&h->lock);
        if (has)
            return true;
        if (is_too_late(&began)) {
            printf("    said %s\n", h->out);
            return false;
        }
        sched_yield();
    }
}

/* --- room for output */

static bool
has_room(void *arg)
{
    struct heard *h = arg;

    pthread_mutex_lock(&h->lock);
    bool has = h->has_room;
    pthread_mutex_unlock(&h->lock);
    event_happen(&h->asked);
    return has;
}

static void
make_room(struct heard *h)
{
    pthread_mutex_lock(&h->lock);
    h->has_room = true;
    pthread_mutex_unlock(&h->lock);
}

static uint64_t
launch(struct wsand_sandbox *sb, struct heard *h,
       struct wsand_process_options o)
{
    struct wsand_error err = {0};
    uint64_t id = 0;

    memset(h, 0, sizeof *h);
    pthread_mutex_init(&h->lock, NULL);
    pthread_mutex_init(&h->ended.lock, NULL);
    pthread_cond_init(&h->ended.cond, NULL);
    pthread_mutex_init(&h->asked.lock, NULL);
    pthread_cond_init(&h->asked.cond, NULL);
    o.size = sizeof o;
    o.on_output = hear;
    o.on_exit = hear_end;
    o.arg = h;
    if (wsand_process_start(sb, &o, &id, &err) < 0)
        printf("    %s\n", err.message);
    CHECK(id > 0);
    return id;
}
#define LAUNCH(sb, h, ...) \
    launch(sb, h, (struct wsand_process_options){__VA_ARGS__})

static int
type(struct wsand_sandbox *sb, uint64_t id, const char *text)
{
    return wsand_process_write(sb, id, text, strlen(text), NULL);
}

#define CHECK_ENDS(h, code)                \
    do {                                   \
        CHECK(event_wait(&(h)->ended, 1)); \
        CHECK_EQ((h)->exit_code, code);    \
    } while (0)

TEST(process_output_and_status)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    struct wsand_process *v = NULL;
    size_t n = 0;

    uint64_t id =
        LAUNCH(l.sb, &h, .command = "echo a; echo b >&2; pwd; exit 3");
    CHECK_ENDS(&h, 3);
    CHECK_STR(h.out, "a\n/home/user\n");
    CHECK_STR(h.err, "b\n");
    CHECK_EQ(wsand_process_list(l.sb, &v, &n, NULL), 0);
    CHECK_EQ(n, 1);
    CHECK(v[0].id == id && v[0].has_ended && !v[0].is_pty);
    CHECK_EQ(v[0].exit_code, 3);
    CHECK_STR(v[0].command, "echo a; echo b >&2; pwd; exit 3");
    free(v);
    CHECK_EQ(type(l.sb, id, "x"), -ESRCH);
    CHECK_EQ(wsand_process_kill(l.sb, id, SIGKILL, NULL), -ESRCH);
    CHECK_EQ(wsand_process_kill(l.sb, 77, SIGKILL, NULL), -ESRCH);
    lib_free(&l);
}

TEST(process_reads_what_is_written_to_it)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    uint64_t id = LAUNCH(l.sb, &h, .command = "cat; echo end");

    CHECK_EQ(type(l.sb, id, "one\n"), 0);
    CHECK(says(&h, "one\n"));
    CHECK_EQ(type(l.sb, id, "two\n"), 0);
    CHECK_EQ(wsand_process_write(l.sb, id, NULL, 0, NULL), 0);
    CHECK_EQ(type(l.sb, id, "three\n") == 0, false);
    CHECK_ENDS(&h, 0);
    CHECK_STR(h.out, "one\ntwo\nend\n");
    lib_free(&l);
}

TEST(process_that_does_not_read_keeps_a_mebibyte)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    static char block[1 << 18];
    uint64_t id = LAUNCH(l.sb, &h, .command = "read x; wc -c; sleep 1000");
    int r = 0, n = 0;

    memset(block, 'a', sizeof block);
    CHECK_EQ(wsand_process_write(l.sb, id, block, 2 << 20, NULL), -EMSGSIZE);
    while (r == 0 && n < 100) {
        r = wsand_process_write(l.sb, id, block, sizeof block, NULL);
        n += r == 0;
    }
    CHECK_EQ(r, -EAGAIN);
    CHECK(n >= 4 && n < 100);
    CHECK_EQ(wsand_process_kill(l.sb, id, SIGKILL, NULL), 0);
    CHECK_ENDS(&h, 137);
    lib_free(&l);
}

TEST(process_waits_for_room_for_its_output)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    uint64_t id =
        LAUNCH(l.sb, &h, .command = "echo a; echo b >&2; echo c; exit 3",
               .has_room = has_room);

    CHECK(event_wait(&h.asked, 1));
    CHECK_RUN(l.sb, "echo beside", 0, "beside\n");
    CHECK_EQ(h.out_len + h.err_len, 0);
    CHECK_EQ(wsand_process_resume(l.sb, id, NULL), 0);
    CHECK_RUN(l.sb, "echo still", 0, "still\n");
    CHECK_EQ(h.out_len + h.err_len, 0);
    make_room(&h);
    CHECK_EQ(wsand_process_resume(l.sb, id, NULL), 0);
    CHECK_ENDS(&h, 3);
    CHECK_STR(h.out, "a\nc\n");
    CHECK_STR(h.err, "b\n");
    CHECK_EQ(wsand_process_resume(l.sb, id, NULL), -ESRCH);
    lib_free(&l);
}

TEST(process_that_waits_for_room_can_be_killed)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    uint64_t id = LAUNCH(l.sb, &h, .command = "exec yes", .has_room = has_room);

    CHECK(event_wait(&h.asked, 1));
    CHECK_EQ(wsand_process_kill(l.sb, id, SIGKILL, NULL), 0);
    CHECK_ENDS(&h, 137);
    CHECK_EQ(h.out_len, 0);
    lib_free(&l);
}

TEST(output_on_a_terminal_waits_for_room)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    uint64_t id =
        LAUNCH(l.sb, &h, .command = "echo one; seq 10000; echo last; read x",
               .is_pty = true, .has_room = has_room);

    CHECK(event_wait(&h.asked, 1));
    CHECK_EQ(h.out_len, 0);
    make_room(&h);
    CHECK_EQ(wsand_process_resume(l.sb, id, NULL), 0);
    CHECK(says(&h, "10000\r\nlast\r\n"));
    CHECK_EQ(type(l.sb, id, "\n"), 0);
    CHECK_ENDS(&h, 0);
    CHECK(!strncmp(h.out, "one\r\n1\r\n2\r\n", 11));
    lib_free(&l);
}

static size_t
window(void *arg)
{
    struct heard *h = arg;

    pthread_mutex_lock(&h->lock);
    size_t used = h->out_len + h->err_len;
    size_t left = used < h->window ? h->window - used : 0;
    pthread_mutex_unlock(&h->lock);
    if (!left)
        event_happen(&h->asked);
    return left;
}

static void
set_window(struct heard *h, size_t bytes)
{
    pthread_mutex_lock(&h->lock);
    h->window = bytes;
    pthread_mutex_unlock(&h->lock);
}

TEST(process_writes_no_more_than_its_window)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    uint64_t id = LAUNCH(l.sb, &h, .command = "echo one; echo two >&2; exit 3",
                         .window = window);

    set_window(&h, 2);
    CHECK_EQ(wsand_process_resume(l.sb, id, NULL), 0);
    CHECK(event_wait(&h.asked, 1));
    CHECK(says(&h, "on"));
    CHECK_RUN(l.sb, "echo beside", 0, "beside\n");
    CHECK_EQ(h.out_len + h.err_len, 2);
    set_window(&h, 100);
    CHECK_EQ(wsand_process_resume(l.sb, id, NULL), 0);
    CHECK_ENDS(&h, 3);
    CHECK_STR(h.out, "one\n");
    CHECK_STR(h.err, "two\n");
    lib_free(&l);
}

TEST(process_has_the_environment_of_the_shell)
{
    LIB_SANDBOX(l, .env = (const char *const[]){"FROM=options", NULL});
    static struct heard h;
    const char *const env[] = {"B=two", "C=it's", NULL};

    CHECK_RUN(l.sb, "export A=one B=one; D=no; cd /", 0, "");
    (void)LAUNCH(l.sb, &h, .command = "echo $FROM $A $B $C .$D. $PWD",
                 .env = env, .cwd = "/tmp");
    CHECK_ENDS(&h, 0);
    CHECK_STR(h.out, "options one two it's .. /tmp\n");
    CHECK_RUN(l.sb, "echo $B; pwd", 0, "one\n/\n");
    lib_free(&l);
}

TEST(process_that_cannot_be_started)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_process_options o = {
        .size = sizeof o, .command = "true", .cwd = "/nowhere"};
    struct wsand_error err;
    uint64_t id = 0;

    CHECK_EQ(wsand_process_start(l.sb, &o, &id, &err), -ENOENT);
    o.cwd = NULL;
    o.command = NULL;
    CHECK_EQ(wsand_process_start(l.sb, &o, &id, &err), -EINVAL);
    CHECK_EQ(id, 0);
    lib_free(&l);
}

TEST(process_that_nobody_listens_to)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_process_options o = {
        .size = sizeof o, .command = "echo a; >/tmp/done", .is_pty = true};
    struct wsand_stat st;
    uint64_t id = 0;
    time_t began = 0;

    CHECK_EQ(wsand_process_start(l.sb, &o, &id, NULL), 0);
    while (wsand_file_stat(l.sb, "/tmp/done", true, &st, NULL) != 0 &&
           !is_too_late(&began))
        sched_yield();
    CHECK_EQ(wsand_file_stat(l.sb, "/tmp/done", true, &st, NULL), 0);
    lib_free(&l);
}

/* --- beside runs */

struct blocked {
    struct wsand_sandbox *sb;
    struct event begun;
    int exit_code;
};

static void
note_begin(void *arg, int stream, const void *data, size_t len)
{
    (void)stream, (void)data, (void)len;
    event_happen(&((struct blocked *)arg)->begun);
}

static void *
run_blocked(void *arg)
{
    struct blocked *b = arg;
    const char *command = "echo a; sleep 1000";
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .on_output = note_begin,
                            .on_output_arg = b};
    struct wsand_output out = {.size = sizeof out};

    (void)wsand_run(b->sb, &run, &out, NULL);
    b->exit_code = out.exit_code;
    wsand_output_free(&out);
    return NULL;
}

TEST(process_goes_on_while_a_command_runs)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    struct blocked b = {.sb = l.sb, .begun = EVENT_INIT};
    uint64_t id = LAUNCH(l.sb, &h, .command = "cat");
    pthread_t t = start(run_blocked, &b);

    CHECK(event_wait(&b.begun, 1));
    CHECK_EQ(type(l.sb, id, "during\n"), 0);
    CHECK(says(&h, "during\n"));
    wsand_cancel(l.sb);
    pthread_join(t, NULL);
    CHECK_EQ(b.exit_code, 130);
    CHECK_EQ(type(l.sb, id, "after\n"), 0);
    CHECK(says(&h, "after\n"));
    CHECK_RUN(l.sb, "kill -9 -1; echo $?", 0, "0\n");
    CHECK_ENDS(&h, 137);
    lib_free(&l);
}

TEST(process_kill_hits_all_that_it_has_started)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    uint64_t id = LAUNCH(l.sb, &h,
                         .command = "setsid sleep 1000 & (sleep 1000 | cat) & "
                                    "echo go; sleep 1000");

    CHECK(says(&h, "go\n"));
    CHECK_RUN(l.sb, "true", 0, "");
    CHECK_EQ(wsand_process_kill(l.sb, id, SIGKILL, NULL), 0);
    CHECK_ENDS(&h, 137);
    CHECK_RUN(l.sb, "pgrep sleep", 1, "");
    lib_free(&l);
}

TEST(process_list_has_the_last_64_that_ended)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h, running;
    struct wsand_process *v = NULL;
    size_t n = 0, ended = 0;
    uint64_t id = LAUNCH(l.sb, &running, .command = "cat");

    for (int i = 0; i < 70; i++) {
        (void)LAUNCH(l.sb, &h, .command = ":");
        CHECK_ENDS(&h, 0);
    }
    CHECK_EQ(wsand_process_list(l.sb, &v, &n, NULL), 0);
    CHECK_EQ(n, 65);
    for (size_t i = 0; i < n; i++)
        ended += v[i].has_ended;
    CHECK_EQ(ended, 64);
    CHECK_EQ(v[0].id, id + 7);
    CHECK_EQ(v[63].id, id + 70);
    CHECK_EQ(v[64].id, id);
    free(v);
    lib_free(&l);
}

TEST(process_ends_with_its_sandbox)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;

    (void)LAUNCH(l.sb, &h, .command = "echo go; sleep 1000");
    CHECK(says(&h, "go\n"));
    CHECK_EQ(wsand_reset(l.sb, NULL), 0);
    CHECK_ENDS(&h, 137);
    CHECK_RUN(l.sb, "pgrep sleep", 1, "");
    (void)LAUNCH(l.sb, &h, .command = "sleep 1000", .is_pty = true);
    lib_free(&l);
    CHECK_ENDS(&h, 137);
}

/* --- terminals */

TEST(process_terminal_has_a_size)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    uint64_t id =
        LAUNCH(l.sb, &h, .is_pty = true,
               .command = "trap 'stty size; exit 7' WINCH; stty size; tty; "
                          "sleep 1000 & echo ready; wait");

    CHECK(says(&h, "ready\r\n"));
    CHECK(says(&h, "24 80\r\n"));
    CHECK(says(&h, "/dev/pts/0\r\n"));
    CHECK_EQ(wsand_process_resize(l.sb, id, 30, 100, NULL), 0);
    CHECK_ENDS(&h, 7);
    CHECK(says(&h, "30 100\r\n"));
    id = LAUNCH(l.sb, &h, .command = "cat");
    CHECK_EQ(wsand_process_resize(l.sb, id, 30, 100, NULL), -ENOTTY);
    lib_free(&l);
}

TEST(process_terminal_interrupts)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    uint64_t id = LAUNCH(l.sb, &h, .is_pty = true,
                         .command = "trap 'echo int; exit 5' INT; sleep 1000 & "
                                    "echo ready; wait");

    CHECK(says(&h, "ready\r\n"));
    CHECK_EQ(type(l.sb, id, "\3"), 0);
    CHECK_ENDS(&h, 5);
    CHECK(says(&h, "int\r\n"));
    lib_free(&l);
}

TEST(process_interactive_shell)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    uint64_t id = LAUNCH(l.sb, &h, .is_pty = true, .rows = 50, .cols = 120);

    CHECK_EQ(type(l.sb, id, "PS1='<$?>'; echo $((6 * 7)) $LINES $COLUMNS\n"),
             0);
    CHECK(says(&h, "42 50 120\r\n"));
    CHECK_EQ(type(l.sb, id, "(exit 4)\n"), 0);
    CHECK(says(&h, "<4>")); /* the end of input is read as a key from here on */
    CHECK_EQ(wsand_process_write(l.sb, id, NULL, 0, NULL), 0);
    CHECK_ENDS(&h, 4);
    lib_free(&l);
}

/* --- while a command runs */

struct busy {
    struct wsand_sandbox *sb;
    struct event began;
    int exit_code;
};

static void
on_busy(void *arg, int stream, const void *data, size_t len)
{
    (void)stream, (void)data, (void)len;
    event_happen(&((struct busy *)arg)->began);
}

static void *
run_for_ever(void *arg)
{
    static const char loop[] = "export A=2; echo; for ((;;)); do :; done";
    struct busy *b = arg;
    struct wsand_run run = {.size = sizeof run,
                            .command = loop,
                            .command_len = sizeof loop - 1,
                            .on_output = on_busy,
                            .on_output_arg = b};
    struct wsand_output out = {.size = sizeof out};

    CHECK_EQ(wsand_run(b->sb, &run, &out, NULL), 0);
    b->exit_code = out.exit_code;
    wsand_output_free(&out);
    return NULL;
}

static pthread_t
begin_busy(struct busy *b, struct wsand_sandbox *sb)
{
    *b = (struct busy){.sb = sb, .began = EVENT_INIT};
    pthread_t thread = start(run_for_ever, b);
    CHECK(event_wait(&b->began, 1));
    return thread;
}

static void
end_busy(struct busy *b, pthread_t thread)
{
    wsand_cancel(b->sb);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(b->exit_code, 130);
}

TEST(a_process_starts_while_a_command_runs)
{
    LIB_SANDBOX(l, .files = 0);
    static struct heard h;
    struct busy b;
    pthread_t thread;

    CHECK_RUN(l.sb, "export A=1", 0, "");
    thread = begin_busy(&b, l.sb);
    const char *env[] = {"B=3", NULL};
    uint64_t id =
        LAUNCH(l.sb, &h, .command = "echo $A $B; read x; exit $x", .env = env);
    CHECK(says(&h, "1 3\n"));
    CHECK_EQ(type(l.sb, id, "7\n"), 0);
    CHECK_ENDS(&h, 7);
    end_busy(&b, thread);
    CHECK_RUN(l.sb, "echo $A", 0, "1\n");
    lib_free(&l);
}

TEST(a_process_that_cannot_start_says_so_while_a_command_runs)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_process_options o = {
        .size = sizeof o, .command = "true", .cwd = "/nope"};
    struct wsand_error err;
    struct busy b;
    pthread_t thread;
    uint64_t id;

    thread = begin_busy(&b, l.sb);
    CHECK_EQ(wsand_process_start(l.sb, &o, &id, &err), -ENOENT);
    CHECK_STR(err.message, "ENOENT: /nope: No such file or directory");
    end_busy(&b, thread);
    lib_free(&l);
}

static void
note_beside(struct wsand_sandbox *sb, void *arg)
{
    (void)sb;
    event_happen(arg);
}

TEST(jobs_beside_are_done_while_a_command_runs)
{
    LIB_SANDBOX(l, .files = 0);
    struct event done = EVENT_INIT;
    struct busy b;
    pthread_t thread;

    thread = begin_busy(&b, l.sb);
    CHECK_EQ(wsand_post_beside(l.sb, note_beside, &done, NULL), 0);
    CHECK(event_wait(&done, 1));
    end_busy(&b, thread);
    lib_free(&l);
}

static void
start_beside(struct wsand_sandbox *sb, void *arg)
{
    const struct wsand_process_options o = {.size = sizeof o,
                                            .command = "exec sleep 1000"};
    uint64_t id;

    int r = wsand_process_start(sb, &o, &id, NULL);
    CHECK(r == 0 || r == -ECANCELED || r == -EAGAIN);
    event_happen(arg);
}

TEST(jobs_beside_end_before_the_sandbox_is_gone)
{
    enum { JOBS = 40 };
    LIB_SANDBOX(l, .files = 0);
    struct event done = EVENT_INIT;
    struct busy b;

    pthread_t thread = begin_busy(&b, l.sb);
    for (int i = 0; i < JOBS; i++)
        CHECK_EQ(wsand_post_beside(l.sb, start_beside, &done, NULL), 0);
    wsand_sandbox_free(l.sb);
    l.sb = NULL;
    CHECK_EQ(done.count, JOBS);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    lib_free(&l);
}
