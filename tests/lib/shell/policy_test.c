/* What the host allows: programs, places to write. */
#include "shell_test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void
check_denied(struct wsand_sandbox *sb, const char *command)
{
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .timeout_ms = 100000};
    struct wsand_output out = {.size = sizeof out};
    CHECK_EQ(wsand_run(sb, &run, &out, NULL), 0);
    CHECK_EQ(out.exit_code, 126);
    if (out.exit_code != 126 || out.error_class != WSAND_CAPABILITY_DENIED)
        test_failed(__FILE__, __LINE__, command);
    CHECK(memmem(out.err, out.err_len, ": Permission denied\n", 20));
    wsand_output_free(&out);
}

TEST(only_listed_programs_are_run)
{
    const char *tools[] = {"ls", "cp", "ln", "chmod", "awk", "bash", NULL};
    LIB_SANDBOX(l, .allow_tools = tools);
    CHECK_RUN(l.sb, "cd /tmp; echo x >f; ls; echo | awk '{print 1}'", 0,
              "f\n1\n");
    CHECK_RUN(l.sb, "echo b | { read x; echo $x; }; bash -c 'echo $0' z", 0,
              "b\nz\n");
    check_denied(l.sb, "cat f");
    check_denied(l.sb, "bash -c '/usr/bin/cat f'");
    check_denied(l.sb, "env ls");
    CHECK_RUN(l.sb, "cat f 2>/dev/null || ls", 0, "f\n");
    lib_free(&l);
}

TEST(another_name_is_no_way_around_the_list)
{
    const char *tools[] = {"ls", "cp", "ln", "chmod", "bash", NULL};
    LIB_SANDBOX(l, .allow_tools = tools);
    CHECK_RUN(l.sb, "mkdir() { :; }; cd /tmp; echo x >f", 0, "");
    CHECK_RUN(l.sb, "cp /usr/bin/cat ls; ln -s /usr/bin/cat cp", 0, "");
    CHECK_RUN(l.sb, "ln /usr/bin/sort ln; ln -s /usr/bin/ls cat", 0, "");
    check_denied(l.sb, "./ls f");
    check_denied(l.sb, "./cp f");
    check_denied(l.sb, "./ln f");
    check_denied(l.sb, "./cat f");
    check_denied(l.sb, "(exec -a cat ls f)");
    check_denied(l.sb, "(exec -a bash ls --coreutils-prog=cat f)");
    check_denied(l.sb, "exec 9</usr/bin/cat; /proc/self/fd/9 f");
    check_denied(l.sb, "(exec -a ls ./cat f)");
    CHECK_RUN(l.sb, "echo '#!/usr/bin/ls' >sort; chmod 755 sort; ./sort f", 0,
              "./sort\nf\n");
    CHECK_RUN(l.sb, "(exec -a ./x/ls ls f)", 0, "f\n");
    CHECK_RUN(l.sb, "(exec -a -bash bash -c 'echo $0')", 0, "-bash\n");
    lib_free(&l);
}

TEST(scripts_need_their_interpreter)
{
    const char *tools[] = {"bash", "chmod", NULL};
    LIB_SANDBOX(l, .allow_tools = tools);
    CHECK_RUN(l.sb,
              "cd /tmp; echo '#!/bin/bash\necho $1' >a; chmod 755 a;"
              "echo '#!/usr/bin/gawk -f' >b; chmod 755 b; ./a 1",
              0, "1\n");
    check_denied(l.sb, "./b");
    lib_free(&l);
}

TEST(forks_have_the_list_and_no_name_is_none)
{
    const char *tools[] = {NULL};
    LIB_SANDBOX(l, .allow_tools = tools);
    struct wsand_sandbox *fork = NULL;
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    check_denied(fork, "ls");
    CHECK_RUN(fork, "echo on", 0, "on\n");
    wsand_sandbox_free(fork);
    lib_free(&l);
}

TEST(a_program_of_the_host_needs_to_be_listed_too)
{
    const char *tools[] = {"ls", NULL}, *argv[] = {"true", NULL};
    LIB_SANDBOX(l, .allow_tools = tools);
    int null = open("/dev/null", O_RDWR);
    struct wsand_exec x = {.size = sizeof x,
                           .path = "/bin/true",
                           .argv = argv,
                           .envp = argv + 1,
                           .stdio = {null, null, null}};
    struct wsand_result res = {.size = sizeof res};
    struct wsand_error err;
    CHECK(wsand_exec(l.sb, &x, &res, &err) < 0);
    CHECK_EQ(err.error_class, WSAND_CAPABILITY_DENIED);
    argv[0] = "ls";
    x.path = "/bin/ls";
    CHECK_EQ(wsand_exec(l.sb, &x, &res, NULL), 0);
    close(null);
    lib_free(&l);
}

TEST(only_the_listed_folders_can_be_written)
{
    const char *paths[] = {"/home/user/a", "/data", NULL};
    LIB_SANDBOX(l, .writable_paths = paths);
    struct wsand_sandbox *fork = NULL;
    CHECK_RUN(l.sb, "echo 1 >a/f; mkdir /data/d; mv a/f a/g; cat a/g; ls -A a",
              0, "1\ng\n");
    CHECK_RUN(l.sb, "stat -c %u,%a a /data", 0, "1000,755\n1000,755\n");
    CHECK_RUN(l.sb,
              "for f in x /tmp/x /home/x /x; do echo >$f; done 2>&1 |"
              "grep -c 'Read-only file system'",
              0, "4\n");
    CHECK_RUN(l.sb, "rmdir a 2>&1; chmod 700 ~ 2>&1; [ -w ~ ]", 1,
              "rmdir: failed to remove 'a': Read-only file system\n"
              "chmod: changing permissions of '/home/user': Read-only file "
              "system\n");
    CHECK_RUN(l.sb,
              "ln a/g /data/g 2>&1 | grep -o Inv.*; mv a/g /data; ls /data", 0,
              "Invalid cross-device link\nd\ng\n");
    CHECK_RUN(l.sb, "echo x >/dev/null; cd a; pwd; cd ..; pwd; cd /data/d; pwd",
              0, "/home/user/a\n/home/user\n/data/d\n");
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    CHECK_RUN(fork, "pwd; echo 2 >/data/h; echo 1 2>&1 >/tmp/x | cut -d: -f4",
              0, "/data/d\n Read-only file system\n");
    CHECK_RUN(l.sb, "ls /data", 0, "d\ng\n");
    wsand_sandbox_free(fork);
    lib_free(&l);
}

TEST(a_snapshot_has_what_was_in_the_writable_folders)
{
    const char *paths[] = {"/data", NULL};
    LIB_SANDBOX(l, .writable_paths = paths);
    uint64_t id;
    CHECK_RUN(l.sb, "cd /data; echo 1 >f", 0, "");
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_RUN(l.sb, "rm f; echo 2 >g", 0, "");
    CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
    CHECK_RUN(l.sb, "pwd; ls; echo 3 >h", 0, "/data\nf\n");
    CHECK_EQ(wsand_reset(l.sb, NULL), 0);
    CHECK_RUN(l.sb, "ls /data; echo 3 >/data/h; cat /data/h", 0, "3\n");
    lib_free(&l);
}
