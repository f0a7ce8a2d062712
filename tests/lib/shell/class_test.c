/* Why a command was ended or refused. */
#include "shell_test.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct wsand_output
run_for(struct wsand_sandbox *sb, const char *command, uint64_t timeout_ms)
{
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .timeout_ms = timeout_ms};
    struct wsand_output out = {.size = sizeof out};
    CHECK_EQ(wsand_run(sb, &run, &out, NULL), 0);
    return out;
}

static void
check_class(struct wsand_sandbox *sb, const char *command, const char *name)
{
    struct wsand_output out = run_for(sb, command, 100000);
    if (!name)
        CHECK(!wsand_class_name(out.error_class));
    else
        CHECK_STR(wsand_class_name(out.error_class), name);
    wsand_output_free(&out);
}

TEST(after_the_time_limit_output_is_kept_and_the_limit_is_the_time)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_RUN(l.sb, ":", 0, "");
    struct wsand_output out =
        run_for(l.sb, "echo a; echo b >&2; sleep 100", 3000);
    CHECK(out.timed_out && out.exit_code == 124);
    CHECK_EQ(out.error_class, WSAND_TIMEOUT);
    CHECK(out.out_len == 2 && !memcmp(out.out, "a\n", 2));
    CHECK(out.err_len == 20 && !memcmp(out.err, "b\ncommand timed out\n", 20));
    CHECK_EQ(out.time_us, 3000000);
    wsand_output_free(&out);
    lib_free(&l);
}

TEST(the_message_of_the_time_limit_is_not_subject_to_limits)
{
    LIB_SANDBOX(l, .stderr_bytes = 3);
    CHECK_RUN(l.sb, ":", 0, "");
    struct wsand_output out =
        run_for(l.sb, "while :; do echo b >&2; done", 3000);
    CHECK(out.err_len == 21 && !memcmp(out.err, "b\nbcommand timed out\n", 21));
    CHECK(out.err_dropped);
    wsand_output_free(&out);
    lib_free(&l);
}

static void
append(void *arg, int stream, const void *data, size_t len)
{
    CHECK_EQ(stream, 1);
    strncat(arg, data, len);
}

TEST(where_errors_go_to_standard_output_the_message_does_too)
{
    LIB_SANDBOX(l, .files = 0);
    char told[64] = "";
    CHECK_RUN(l.sb, ":", 0, "");
    struct wsand_run run = {.size = sizeof run,
                            .command = "echo a >&2; sleep 100",
                            .command_len = strlen("echo a >&2; sleep 100"),
                            .merge_stderr = true,
                            .timeout_ms = 3000,
                            .on_output = append,
                            .on_output_arg = told};
    struct wsand_output out = {.size = sizeof out};
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), 0);
    CHECK(out.out_len == 20 && !memcmp(out.out, "a\ncommand timed out\n", 20));
    CHECK_STR(told, "a\ncommand timed out\n");
    wsand_output_free(&out);
    lib_free(&l);
}

TEST(a_command_that_is_too_long_is_not_run)
{
    LIB_SANDBOX(l, .command_bytes = 10);
    struct wsand_output out = run_for(l.sb, "x=12345678", 0);
    CHECK_EQ(out.exit_code, 0);
    wsand_output_free(&out);
    out = run_for(l.sb, "x=123456789", 0);
    CHECK_EQ(out.exit_code, 1);
    CHECK_EQ(out.error_class, WSAND_LIMIT_EXCEEDED);
    CHECK_STR(out.limit, "command");
    const char *line = "command too long (11 bytes, limit: 10)\n";
    CHECK(out.err_len == strlen(line) && !memcmp(out.err, line, out.err_len));
    CHECK_EQ(out.time_us, 0);
    wsand_output_free(&out);
    CHECK_RUN(l.sb, "echo $x", 0, "12345678\n");
    lib_free(&l);
}

TEST(a_limit_in_a_command_that_ends_well_is_no_failure)
{
    LIB_SANDBOX(l, .file_bytes = 1 << 20);
    check_class(l.sb, "head -c 2M /dev/zero >/tmp/1; rm /tmp/1; true", NULL);
    check_class(l.sb, "false", NULL);
    lib_free(&l);
}

TEST(the_network_is_denied)
{
    LIB_SANDBOX(l, .files = 0);
    check_class(l.sb, "echo >/dev/tcp/192.0.2.1/80", "CAPABILITY_DENIED");
    check_class(l.sb, "curl -s http://example.com/", "CAPABILITY_DENIED");
    check_class(l.sb, "curl -s http://example.com/ || true", NULL);
    check_class(l.sb, "echo >/dev/tcp/127.0.0.1/80", NULL);
    check_class(l.sb, "false", NULL);
    lib_free(&l);
}

TEST(errors_at_limits_have_their_class)
{
    LIB_SANDBOX(l, .snapshots = 1);
    struct wsand_error err;
    uint64_t id;
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK(wsand_snapshot_create(l.sb, &id, &err) < 0);
    CHECK_EQ(err.error_class, WSAND_LIMIT_EXCEEDED);
    CHECK(wsand_snapshot_delete(l.sb, 99, &err) < 0);
    CHECK_EQ(err.error_class, WSAND_CLASS_NONE);
    lib_free(&l);
}

TEST(an_output_of_an_older_version_leaks_nothing)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_run run = {
        .size = sizeof run, .command = "echo a", .command_len = 6};
    struct wsand_output out = {.size = offsetof(struct wsand_output, out_len)};
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), 0);
    CHECK(!memcmp(out.out, "a\n", 2));
    CHECK_EQ(out.out_len, 0);
    wsand_output_free(&out);
    CHECK(!out.out);
    lib_free(&l);
}
