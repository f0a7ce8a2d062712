/* Commands of the host. */
#include "event.h"
#include "shell_test.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static void
reply(struct wsand_call *call, int status, const char *out, const char *err)
{
    wsand_call_reply(call, status, out, strlen(out), err, strlen(err));
}

/* Prints what it was called with; its status is the number of arguments. */
static void
show(void *arg, struct wsand_call *call)
{
    const struct wsand_call_info *info = wsand_call_info(call);
    char text[1000], env[100] = "";
    int n = 0;

    (void)arg;
    for (const char *const *e = info->envp; *e; e++)
        if (!strncmp(*e, "X=", 2))
            (void)snprintf(env, sizeof env, "%s", *e);
    while (info->argv[n])
        n++;
    (void)snprintf(text, sizeof text, "%s %s %s %s [%.*s]\n", info->name,
                   info->argv[n - 1], env, info->cwd, (int)info->input_len,
                   (const char *)info->input);
    reply(call, n - 1, text, "done\n");
}

/* Its status says how much time it has: 0 no limit, 1 up to a minute. */
static void
show_time(void *arg, struct wsand_call *call)
{
    uint64_t ms = wsand_call_info(call)->timeout_ms;

    (void)arg;
    reply(call, !ms ? 0 : ms <= 60000 ? 1 : 2, "", "");
}

TEST(command_is_given_the_time_that_the_run_has_left)
{
    struct wsand_run run = {
        .size = sizeof run, .command = "time_left", .command_len = 9};
    struct wsand_output out = {.size = sizeof out};
    struct wsand_error err = {0};
    LIB_SANDBOX(l,
                .commands =
                    (const struct wsand_command[]){
                        {.name = "time_left", .invoke = show_time},
                    },
                .n_commands = 1);

    for (int i = 0; i < 3; i++) {
        run.timeout_ms = i == 1 ? 60000 : 0;
        CHECK_EQ(wsand_run(l.sb, &run, &out, &err), 0);
        CHECK_EQ(out.exit_code, i == 1);
        wsand_output_free(&out);
    }
    lib_free(&l);
}

/* --- with answers that come later, from another thread */

struct later {
    struct event called;
    struct wsand_call *call;
    _Atomic int calls;
    struct wsand_sandbox *cancels; /* what waits for it, or NULL */
};

static void
remember(void *arg, struct wsand_call *call)
{
    struct later *l = arg;

    l->call = call;
    l->calls++;
    if (l->cancels)
        wsand_cancel(l->cancels);
    event_happen(&l->called);
}

static void *
answer_later(void *arg)
{
    struct later *l = arg;

    for (int i = 1; i <= 3; i++) {
        if (!event_wait(&l->called, i))
            return NULL;
        reply(l->call, 256 + 3, "later\n", "");
    }
    return NULL;
}

#define COMMANDS(later)                                              \
    .commands =                                                      \
        (const struct wsand_command[]){                              \
            {.name = "show", .help = "usage: show", .invoke = show}, \
            {.name = "late", .invoke = remember, .arg = (later)},    \
        },                                                           \
    .n_commands = 2

TEST(command_is_a_program)
{
    LIB_SANDBOX(l, COMMANDS(NULL));

    CHECK_RUN(l.sb, "which show; stat -c '%U %a' $(which show)", 0,
              "/usr/bin/show\nroot 755\n");
    CHECK_RUN(l.sb, "show --help", 0, "usage: show\n");
    CHECK_RUN(l.sb, "export X=1; cd /tmp; show a 'b c'", 2,
              "show b c X=1 /tmp []\n");
    CHECK_RUN(l.sb, "printf in | show a 2>&1 | tr a-z A-Z", 0,
              "SHOW A X=1 /TMP [IN]\nDONE\n");
    CHECK_RUN(l.sb, "show a </dev/null >/dev/null || echo $?", 0, "1\n");
    CHECK_RUN(l.sb, "ln -s /usr/bin/show /tmp/other; /tmp/other", 0,
              "show /tmp/other X=1 /tmp []\n");
    CHECK_RUN(l.sb, "cp /usr/bin/show mine; ./mine 2>&1", 126,
              "mine: the host's command: No such file or directory\n");
    CHECK_RUN(l.sb, "for i in 1 2 3; do show $i & done | wc -l; wait", 0,
              "3\n");
    lib_free(&l);
}

TEST(command_takes_much_input_but_no_more_than_memory)
{
    LIB_SANDBOX(l, COMMANDS(NULL), .memory_bytes = 64 << 20);

    CHECK_RUN(l.sb, "head -c 5000000 /dev/zero | show a | wc -l", 0, "1\n");
    CHECK_RUN(l.sb, "head -c 200000000 /dev/zero | show a >/dev/null", 126, "");
    CHECK_RUN(l.sb, "show a >/dev/null", 1, "");
    lib_free(&l);
}

TEST(command_is_there_in_forks_and_after_a_reset)
{
    LIB_SANDBOX(l, COMMANDS(NULL));
    struct wsand_sandbox *copy = NULL;

    CHECK_EQ(wsand_fork(l.sb, &copy, NULL), 0);
    CHECK_EQ(wsand_reset(l.sb, NULL), 0);
    CHECK_RUN(l.sb, "show --help", 0, "usage: show\n");
    wsand_sandbox_free(l.sb);
    CHECK_RUN(copy, "cd /; show x", 1, "show x  / []\n");
    wsand_sandbox_free(copy);
    wsand_runtime_free(l.rt);
}

TEST(command_that_is_none)
{
    struct wsand_command bad[] = {{.name = "a/b", .invoke = show},
                                  {.name = "", .invoke = show},
                                  {.name = "..", .invoke = show},
                                  {.name = NULL, .invoke = show},
                                  {.name = "nothing"}};
    struct wsand_options o = {.size = sizeof o, .n_commands = 1};
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *sb = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.commands = &bad[i];
        CHECK_EQ(wsand_sandbox_new(l.rt, &o, &sb, NULL), -EINVAL);
    }
    struct wsand_command twice[] = {{.name = "a", .invoke = show},
                                    {.name = "a", .invoke = show}};
    o.commands = twice;
    o.n_commands = 2;
    CHECK_EQ(wsand_sandbox_new(l.rt, &o, &sb, NULL), -EEXIST);
    lib_free(&l);
}

TEST(command_is_answered_later_by_another_thread)
{
    struct later later = {.called = EVENT_INIT};
    LIB_SANDBOX(l, COMMANDS(&later));
    pthread_t t = start(answer_later, &later);

    CHECK_RUN(l.sb, "late; echo $?", 0, "later\n3\n");
    CHECK_RUN(l.sb, "x=$(late); echo $? $x", 0, "3 later\n");
    CHECK_RUN(l.sb, "late & wait $!; echo $?", 0, "later\n3\n");
    pthread_join(t, NULL);
    CHECK_EQ(later.calls, 3);
    lib_free(&l);
}

TEST(command_may_be_answered_when_nobody_waits_any_more)
{
    struct later later = {.called = EVENT_INIT};
    LIB_SANDBOX(l, COMMANDS(&later));
    const char *command = "echo in | late";
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .timeout_ms = 60000};
    struct wsand_output out = {.size = sizeof out};

    later.cancels = l.sb;
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), 0);
    CHECK(out.cancelled);
    wsand_output_free(&out);
    CHECK_EQ(later.calls, 1);
    reply(later.call, 0, "too late\n", "");
    later.cancels = NULL;
    CHECK_RUN(l.sb, "late & while ! pgrep late >/dev/null; do :; done", 0, "");
    CHECK(event_wait(&later.called, 2));
    struct wsand_call *call = later.call;
    CHECK_STR(wsand_call_info(call)->name, "late");
    lib_free(&l);
    CHECK_EQ(wsand_call_info(call)->input_len, 0);
    reply(call, 0, "too late\n", "");
}
