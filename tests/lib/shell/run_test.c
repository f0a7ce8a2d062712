/* wsand_run: folder and variables for one command, limits, cancel. */
#include "event.h"
#include "shell_test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(a_folder_for_one_command_does_not_stay)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_run run = {.size = sizeof run, .cwd = "/tmp"};
    CHECK_RUN(l.sb, "cd /usr; false", 1, "");
    CHECK_WITH(l.sb, &run, "pwd; x=5; cd /bin; (exit 3)", 3, "/tmp\n");
    CHECK_RUN(l.sb, "echo $? $PWD $OLDPWD $x; pwd", 0,
              "3 /usr /home/user 5\n/usr\n");
    lib_free(&l);
}

TEST(variables_for_one_command_do_not_stay)
{
    LIB_SANDBOX(l, .files = 0);
    const char *env[] = {"A=1 2", "B='\n\"$x", "C=", NULL};
    struct wsand_run run = {.size = sizeof run, .env = env};
    CHECK_RUN(l.sb, "A=old; export B=exported", 0, "");
    CHECK_WITH(l.sb, &run, "printenv A B C; A=changed; D=4", 0,
               "1 2\n'\n\"$x\n\n");
    CHECK_RUN(l.sb, "echo $A $B ${C-none} $D; printenv A", 1,
              "old exported none 4\n");
    CHECK_RUN(l.sb, "printenv B; declare -F", 0, "exported\n");
    lib_free(&l);
}

TEST(status_is_seen_by_a_command_with_variables)
{
    LIB_SANDBOX(l, .files = 0);
    const char *env[] = {"A=1", NULL};
    struct wsand_run run = {.size = sizeof run, .env = env};
    CHECK_RUN(l.sb, "(exit 7)", 7, "");
    CHECK_WITH(l.sb, &run, "echo $?", 0, "7\n");
    lib_free(&l);
}

TEST(options_and_traps_do_not_hinder_variables)
{
    LIB_SANDBOX(l, .files = 0);
    const char *env[] = {"A=1", NULL};
    struct wsand_run run = {.size = sizeof run, .env = env, .cwd = "/tmp"};
    CHECK_RUN(l.sb, "set -eux; trap 'echo exit' EXIT; trap 'echo d' DEBUG", 0,
              "");
    CHECK_RUN(l.sb, "alias export=false builtin=false cd=false", 0, "d\n");
    CHECK_WITH(l.sb, &run, "echo $A $PWD", 0, "d\n1 /tmp\n");
    CHECK_RUN(l.sb, "trap - DEBUG; pwd", 0, "d\n/home/user\n");
    lib_free(&l);
}

TEST(a_command_that_exits_still_gives_back)
{
    LIB_SANDBOX(l, .files = 0);
    const char *env[] = {"A=1", NULL};
    struct wsand_run run = {.size = sizeof run, .env = env, .cwd = "/tmp"};
    CHECK_WITH(l.sb, &run, "exit 4", 4, "");
    CHECK_RUN(l.sb, "echo $? ${A-none} $PWD", 0, "4 none /home/user\n");
    CHECK_WITH(l.sb, &run, "kill -9 $$", 137, "");
    CHECK_RUN(l.sb, "echo ${A-none} $PWD", 0, "none /home/user\n");
    lib_free(&l);
}

TEST(signals_for_a_killed_command_do_not_meet_the_next)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_RUN(l.sb, "trap : USR1; (kill -USR1 $$; kill -KILL $$)", 137, "");
    CHECK_RUN(l.sb, "echo ok", 0, "ok\n");
    lib_free(&l);
}

TEST(limits_of_a_killed_command_do_not_stay)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_RUN(l.sb, "ulimit -n 100; exec 50</dev/null", 0, "");
    CHECK_RUN(l.sb, "ulimit -n 10; kill -KILL $$", 137, "");
    CHECK_RUN(l.sb, "ulimit -n; cat <&50", 0, "100\n");
    lib_free(&l);
}

TEST(wrong_folders_and_variables_are_named)
{
    LIB_SANDBOX(l, .files = 0);
    const char *bad[] = {"1A=1", NULL}, *fixed[] = {"UID=5", NULL};
    struct wsand_run run = {
        .size = sizeof run, .command = "true", .command_len = 4};
    struct wsand_output out = {.size = sizeof out};
    struct wsand_error err;
    run.cwd = "/nope";
    CHECK_EQ(wsand_run(l.sb, &run, &out, &err), -ENOENT);
    CHECK_STR(err.message, "ENOENT: no such file or directory: /nope");
    CHECK_EQ(wsand_file_mkdir(l.sb, "/tmp/secret", 0, false, NULL), 0);
    CHECK_EQ(wsand_file_chmod(l.sb, "/tmp/secret", 0, NULL), 0);
    run.cwd = "/tmp/secret";
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), -EACCES);
    run.cwd = "tmp";
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), -EINVAL);
    run.cwd = "/tmp";
    run.env = bad;
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), -EINVAL);
    run.env = fixed;
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), -EPERM);
    CHECK_RUN(l.sb, "pwd", 0, "/home/user\n");
    lib_free(&l);
}

TEST(standard_error_can_be_merged)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_run run = {.size = sizeof run, .merge_stderr = true};
    CHECK_WITH(l.sb, &run, "echo a; echo b >&2; echo c", 0, "a\nb\nc\n");
    lib_free(&l);
}

struct stream {
    char text[64];
    size_t len;
};

static void
note_output(void *arg, int stream, const void *data, size_t len)
{
    struct stream *s = arg;

    for (size_t i = 0; i < len && s->len + 2 < sizeof s->text; i++) {
        s->text[s->len++] = stream == 1 ? 'o' : 'e';
        s->text[s->len++] = ((const char *)data)[i];
    }
}

TEST(output_is_told_as_it_comes_also_past_the_limit)
{
    LIB_SANDBOX(l, .files = 0);
    struct stream s = {0};
    struct wsand_run run = {.size = sizeof run,
                            .on_output = note_output,
                            .on_output_arg = &s,
                            .stdout_bytes = 3};
    CHECK_WITH(l.sb, &run,
               "printf a; printf b >&2; printf cdef; (sleep 0; printf x) &", 0,
               "acd");
    CHECK_STR(s.text, "oaebocodoeof");
    CHECK_RUN(l.sb, "wait", 0, "");
    CHECK_STR(s.text, "oaebocodoeof");
    lib_free(&l);
}

TEST(a_character_is_not_cut)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_run run = {.size = sizeof run,
                            .command = "printf 'ab\xc3\xa4\xe2\x82\xac'",
                            .command_len = strlen("printf 'ab....'") + 1,
                            .stdout_bytes = 6};
    struct wsand_output out = {.size = sizeof out};
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), 0);
    CHECK_EQ(out.out_len, 4);
    CHECK_EQ(out.out_dropped, 3);
    wsand_output_free(&out);
    lib_free(&l);
}

struct running {
    struct wsand_sandbox *sb;
    struct event begun;
};

static void
note_begin(void *arg, int stream, const void *data, size_t len)
{
    struct running *r = arg;

    (void)stream, (void)data, (void)len;
    event_happen(&r->begun);
}

static void *
cancel_when_begun(void *arg)
{
    struct running *r = arg;

    CHECK(event_wait(&r->begun, 1));
    wsand_cancel(r->sb);
    return NULL;
}

static void
check_cancel(struct wsand_sandbox *sb, const char *command)
{
    struct running r = {sb, EVENT_INIT};
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .on_output = note_begin,
                            .on_output_arg = &r,
                            .timeout_ms = 100000};
    struct wsand_output out = {.size = sizeof out};
    pthread_t th = start(cancel_when_begun, &r);
    CHECK_EQ(wsand_run(sb, &run, &out, NULL), 0);
    pthread_join(th, NULL);
    CHECK_EQ(out.exit_code, 130);
    CHECK(out.cancelled && !out.timed_out);
    CHECK_STR(wsand_class_name(out.error_class), "CANCELLED");
    wsand_output_free(&out);
}

TEST(a_command_can_be_cancelled)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_RUN(l.sb, "x=1", 0, "");
    check_cancel(l.sb, "x=2; echo; while :; do :; done");
    check_cancel(l.sb, "x=3; trap '' INT TERM; echo; sleep 1000");
    CHECK_RUN(l.sb, "echo $x", 0, "1\n");
    wsand_cancel(l.sb);
    CHECK_RUN(l.sb, "echo $x", 0, "1\n");
    lib_free(&l);
}

static struct wsand_output
run_of(struct wsand_sandbox *sb, const char *command)
{
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .timeout_ms = 100000};
    struct wsand_output out = {.size = sizeof out};
    CHECK_EQ(wsand_run(sb, &run, &out, NULL), 0);
    return out;
}

static void
check_limit(struct wsand_sandbox *sb, const char *command, const char *limit)
{
    struct wsand_output out = run_of(sb, command);
    CHECK(out.exit_code != 0);
    CHECK_STR(out.limit, limit);
    CHECK_EQ(out.error_class, WSAND_LIMIT_EXCEEDED);
    wsand_output_free(&out);
    CHECK_RUN(sb, "echo on", 0, "on\n");
}

TEST(the_limit_of_memory_is_named)
{
    LIB_SANDBOX(l, .memory_bytes = 64 << 20);
    check_limit(l.sb, "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done", "memory");
    lib_free(&l);
}

TEST(the_limit_of_processes_is_named)
{
    LIB_SANDBOX(l, .processes = 4);
    check_limit(l.sb, "sleep 9 | sleep 9 | sleep 9 | sleep 9 | sleep 9",
                "processes");
    lib_free(&l);
}

TEST(the_limit_that_was_hit_is_named)
{
    LIB_SANDBOX(l, .files = 20, .file_bytes = 1 << 20, .cpu_ms = 400);
    check_limit(l.sb, "for i in {1..50}; do : >/tmp/$i || exit; done", "files");
    check_limit(l.sb, "head -c 2M /dev/zero >/tmp/1", "file_bytes");
    check_limit(l.sb, "while :; do :; done", "cpu");
    check_limit(l.sb, "while :; do :; done", "cpu");
    lib_free(&l);
}

TEST(a_run_says_what_it_used)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_output out =
        run_of(l.sb, "for ((i = 0; i < 200000; i++)); do :; done");
    CHECK(out.cpu_ms > 0 && out.cpu_ms <= out.time_us / 1000 + 1);
    CHECK(out.max_memory_bytes > 100000);
    CHECK(!out.limit);
    wsand_output_free(&out);
    out = run_of(l.sb, "sleep 0.3"); /* none of it asleep */
    CHECK(out.cpu_ms + 299 <= out.time_us / 1000 + 1);
    wsand_output_free(&out);
    lib_free(&l);
}

TEST(a_fork_bomb_does_not_outlive_its_answer)
{
    LIB_SANDBOX(l, .processes = 16);
    CHECK_RUN(l.sb, "( b() { b | b & b; }; b ) 2>/dev/null", 254, "");
    CHECK_RUN(l.sb, "ls -d /bin/. | cat; ps -e -o comm=", 0,
              "/bin/.\ninit\nbash\nps\n");
    lib_free(&l);
}

TEST(a_fork_bomb_in_the_background_ends_itself)
{
    LIB_SANDBOX(l, .processes = 16);
    CHECK_RUN(l.sb, "mkfifo /tmp/never", 0, "");
    CHECK_RUN(l.sb,
              "( b() { b | b & b; }; b ) 2>/dev/null &"
              " read -t 0.01 <>/tmp/never; true",
              0, "");
    CHECK_RUN(l.sb, "wait; ls -d /bin/. | cat; ps -e -o comm=", 0,
              "/bin/.\ninit\nbash\nps\n");
    lib_free(&l);
}

TEST(what_earlier_runs_left_leaves_some_processes_to_the_next)
{
    LIB_SANDBOX(l, .processes = 32);
    CHECK_RUN(l.sb, "( for i in {1..500}; do sleep 100 & done ) 2>/dev/null &",
              0, "");
    for (int i = 0; i < 20; i++)
        CHECK_RUN(l.sb, "ls -d /bin/. | cat; (echo)", 0, "/bin/.\n\n");
    lib_free(&l);
}

TEST(the_shell_has_a_history_of_the_users_commands)
{
    LIB_SANDBOX(l, .files = 0);
    const char *env[] = {"A=1", NULL};
    struct wsand_run run = {.size = sizeof run, .env = env, .cwd = "/tmp"};
    char *value = NULL;

    CHECK_RUN(l.sb, "echo one", 0, "one\n");
    CHECK_WITH(l.sb, &run, "echo two\necho three", 0, "two\nthree\n");
    CHECK_EQ(wsand_env_get(l.sb, "HOME", &value, NULL), 0);
    free(value);
    CHECK_RUN(l.sb, "history | cut -c 1-17", 0,
              "    1  echo one\n    2  echo two\necho three\n"
              "    3  history | \n");
    lib_free(&l);
}
