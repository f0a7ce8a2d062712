/* Commands of several threads; background processes between calls. */
#include "event.h"
#include "shell_test.h"

#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CANCELS = 2000, SANDBOXES = 1000, THREADS_MAX = 12 };

#define RUN(text)                                            \
    {                                                        \
        .size = sizeof(struct wsand_run), .command = (text), \
        .command_len = strlen(text), .timeout_ms = 60000     \
    }

/* --- cancelling */

struct request {
    pthread_mutex_t lock;
    bool is_running;
    struct event done;
    struct wsand_run run;
    int exit_code;
    bool cancelled;
};

/* As a server does it: a request can be cancelled while it is_running. */
static void
job_run(struct wsand_sandbox *sb, void *arg)
{
    struct request *q = arg;
    struct wsand_output out = {.size = sizeof out};

    pthread_mutex_lock(&q->lock);
    q->is_running = true;
    pthread_mutex_unlock(&q->lock);
    q->exit_code = wsand_run(sb, &q->run, &out, NULL) < 0 ? -1 : out.exit_code;
    q->cancelled = out.cancelled;
    wsand_output_free(&out);
    pthread_mutex_lock(&q->lock);
    q->is_running = false;
    pthread_mutex_unlock(&q->lock);
    event_happen(&q->done);
}

static bool
cancel_if_running(struct wsand_sandbox *sb, struct request *q)
{
    pthread_mutex_lock(&q->lock);
    bool is_running = q->is_running;
    if (is_running)
        wsand_cancel(sb);
    pthread_mutex_unlock(&q->lock);
    return is_running;
}

TEST(lease_cancel_hits_its_run_and_no_other)
{
    LIB_SANDBOX(l, .files = 0);
    long missed = 0, hit_others = 0;

    for (int i = 0; i < CANCELS; i++) {
        struct request endless = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                  .done = EVENT_INIT,
                                  .run = RUN("while :; do :; done")};
        struct request other = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                .done = EVENT_INIT,
                                .run = RUN("true")};
        (void)wsand_post(l.sb, job_run, &endless, NULL);
        (void)wsand_post(l.sb, job_run, &other, NULL);
        while (!cancel_if_running(l.sb, &endless))
            sched_yield();
        (void)event_wait(&other.done, 1);
        missed += !endless.cancelled || endless.exit_code != 130;
        hit_others += other.cancelled || other.exit_code != 0;
        wsand_cancel(l.sb); /* between runs */
    }
    CHECK_EQ(missed, 0);
    CHECK_EQ(hit_others, 0);
    lib_free(&l);
}

static void
cancel_at_once(void *arg, int stream, const void *data, size_t len)
{
    (void)stream, (void)data, (void)len;
    wsand_cancel(arg);
}

TEST(lease_cancel_from_the_output_of_a_run)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_run run = RUN("echo a; while :; do :; done");
    struct wsand_output out = {.size = sizeof out};

    run.on_output = cancel_at_once;
    run.on_output_arg = l.sb;
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), 0);
    CHECK(out.cancelled);
    CHECK_EQ(out.out_len, 2);
    wsand_output_free(&out);
    CHECK_RUN(l.sb, "echo $?", 0, "0\n");
    lib_free(&l);
}

/* --- freeing */

struct running {
    struct wsand_sandbox *sb;
    struct event begun;
    int r, exit_code;
};

static void
note_begin(void *arg, int stream, const void *data, size_t len)
{
    (void)stream, (void)data, (void)len;
    event_happen(&((struct running *)arg)->begun);
}

static void *
run_long(void *arg)
{
    struct running *r = arg;
    struct wsand_run run = RUN("echo a; sleep 1000");
    struct wsand_output out = {.size = sizeof out};

    run.on_output = note_begin;
    run.on_output_arg = r;
    r->r = wsand_run(r->sb, &run, &out, NULL);
    r->exit_code = out.exit_code;
    wsand_output_free(&out);
    return NULL;
}

TEST(lease_free_ends_what_runs)
{
    LIB_SANDBOX(l, .files = 0);
    struct running r = {.sb = l.sb, .begun = EVENT_INIT};
    pthread_t t = start(run_long, &r);

    CHECK(event_wait(&r.begun, 1));
    wsand_sandbox_free(l.sb);
    pthread_join(t, NULL);
    CHECK_EQ(r.r, 0);
    CHECK_EQ(r.exit_code, 130);
    wsand_runtime_free(l.rt);
}

/* --- background processes */

/* Does the file come to be there, with nothing but calls about files? */
static bool
appears(struct wsand_sandbox *sb, const char *path)
{
    struct wsand_stat st;
    time_t began = 0;

    while (wsand_file_stat(sb, path, true, &st, NULL) != 0) {
        if (is_too_late(&began))
            return false;
        sched_yield();
    }
    return true;
}

TEST(lease_background_processes_go_on_between_calls)
{
    LIB_SANDBOX(l, .files = 0);

    CHECK_RUN(l.sb, "(sleep 0.05; echo b; >/tmp/done) &", 0, "");
    CHECK(appears(l.sb, "/tmp/done"));
    CHECK_RUN(l.sb, "mkfifo f; (read x <f; echo $x >/tmp/got) &", 0, "");
    CHECK_RUN(l.sb, "(sleep 0.01; echo a >f) &", 0, "");
    CHECK(appears(l.sb, "/tmp/got"));
    lib_free(&l);
}

TEST(lease_calls_beside_busy_background_processes)
{
    LIB_SANDBOX(l, .files = 0);

    CHECK_RUN(l.sb, "while :; do :; done & while :; do :; done &", 0, "");
    for (int i = 0; i < 200; i++)
        CHECK_RUN(l.sb, "echo a", 0, "a\n");
    CHECK_RUN(l.sb, "for ((;;)) do ((++n == 1000)) && >/tmp/n; done &", 0, "");
    CHECK(appears(l.sb, "/tmp/n"));
    lib_free(&l);
}

TEST(lease_background_processes_of_a_repeatable_sandbox_wait_for_runs)
{
    LIB_SANDBOX(l, .is_deterministic = true, .seed = 1);
    struct wsand_stat st;

    CHECK_RUN(l.sb, "(sleep 1; >/tmp/done) &", 0, "");
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(wsand_file_stat(l.sb, "/tmp/done", true, &st, NULL), -ENOENT);
    CHECK_RUN(l.sb, "sleep 2; ls /tmp", 0, "done\n");
    lib_free(&l);
}

TEST(lease_background_processes_wait_for_descriptors_of_the_host)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_exec x = {
        .size = sizeof x,
        .path = "/bin/bash",
        .argv =
            (const char *const[]){"bash", "-c",
                                  "exec 3<&0; (read x <&3; >/tmp/$x) &", NULL},
        .envp = (const char *const[]){NULL},
        .stdio = {0, 1, 2}};
    struct wsand_result res = {.size = sizeof res};
    int fds[2];

    CHECK_EQ(pipe(fds), 0);
    x.stdio[0] = fds[0];
    CHECK_EQ(wsand_exec(l.sb, &x, &res, NULL), 0);
    CHECK_EQ(write(fds[1], "name\n", 5), 5);
    CHECK(appears(l.sb, "/tmp/name"));
    close(fds[0]);
    close(fds[1]);
    lib_free(&l);
}

static int
count_threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

TEST(lease_sleeping_processes_cost_no_threads)
{
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .max_processes = SANDBOXES + 100,
                                       .root_image = getenv("WASMSAND_ROOT")};
    static struct wsand_sandbox *sb[SANDBOXES];
    struct wsand_options o = {.size = sizeof o};
    struct wsand_runtime *rt = NULL;

    CHECK_EQ(wsand_runtime_new(&ro, &rt, NULL), 0);
    for (int i = 0; i < SANDBOXES; i++) {
        CHECK_EQ(wsand_sandbox_new(rt, &o, &sb[i], NULL), 0);
        CHECK_RUN(sb[i], "sleep 1000 &", 0, "");
        CHECK_EQ(wsand_checkpoint(sb[i], NULL), 0);
    }
    CHECK_RUN(sb[0], "(sleep 0.01; >/tmp/done) &", 0, "");
    CHECK(appears(sb[0], "/tmp/done"));
    CHECK(count_threads() <= THREADS_MAX);
    for (int i = 0; i < SANDBOXES; i++)
        wsand_sandbox_free(sb[i]);
    wsand_runtime_free(rt);
}
