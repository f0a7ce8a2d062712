/* Snapshots, reset, forks. */
#include "shell_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

TEST(a_snapshot_brings_files_and_shell_back_as_often_as_wanted)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_status before = {.size = sizeof before}, after = before;
    uint64_t id = 0;
    CHECK_RUN(l.sb,
              "cd /tmp; x=1; f() { echo f$x; }; export E=e; set -u; echo a >a;"
              "exec 5<>a; umask 077; (exit 2)",
              2, "");
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_status(l.sb, &before, NULL), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_RUN(l.sb, "cd /; x=2; unset -f f; rm /tmp/a; exec 5>&-", 0, "");
        CHECK_RUN(l.sb, "set +u; export E=; umask 0; echo b >/tmp/b", 0, "");
        CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
        CHECK_EQ(wsand_status(l.sb, &after, NULL), 0);
        CHECK_EQ(after.files, before.files);
        CHECK_EQ(after.file_bytes, before.file_bytes);
        CHECK_RUN(l.sb, "echo $? $PWD $E $-; f; ls; umask; cat <&5; echo $$", 0,
                  "2 /tmp e huBs\nf1\na\n0077\na\n2\n");
    }
    lib_free(&l);
}

TEST(restore_kills_what_runs)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_status st = {.size = sizeof st};
    uint64_t id;
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_RUN(l.sb, "sleep 1000 & sleep 1000 | cat &", 0, "");
    CHECK_EQ(wsand_status(l.sb, &st, NULL), 0);
    CHECK_EQ(st.processes, 4);
    CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
    CHECK_EQ(wsand_status(l.sb, &st, NULL), 0);
    CHECK_EQ(st.processes, 0);
    CHECK_RUN(l.sb, "jobs; echo $$", 0, "2\n");
    lib_free(&l);
}

TEST(a_snapshot_before_the_first_command_is_a_fresh_shell)
{
    LIB_SANDBOX(l, .files = 0);
    uint64_t id;
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_RUN(l.sb, "x=1; cd /", 0, "");
    CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
    CHECK_RUN(l.sb, "echo ${x-none} $PWD", 0, "none /home/user\n");
    lib_free(&l);
}

TEST(reset_is_the_state_at_the_start)
{
    const char *env[] = {"A=1", NULL};
    LIB_SANDBOX(l, .env = env);
    struct wsand_status before = {.size = sizeof before}, after = before;
    CHECK_EQ(wsand_status(l.sb, &before, NULL), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_RUN(l.sb, "cd /tmp; echo $A ${x-none} $$ *; x=1; echo >f; A=2", 0,
                  "1 none 2 *\n");
        CHECK_RUN(l.sb, "sleep 1000 & cd /tmp", 0, "");
        CHECK_EQ(wsand_reset(l.sb, NULL), 0);
        CHECK_EQ(wsand_status(l.sb, &after, NULL), 0);
        CHECK(!memcmp(&after.max, &before.max, sizeof after.max));
        CHECK_EQ(after.processes, 0);
        CHECK_EQ(after.files, before.files);
        CHECK_EQ(after.file_bytes, before.file_bytes);
        CHECK_EQ(after.memory_bytes, before.memory_bytes);
    }
    lib_free(&l);
}

TEST(a_fork_is_reset_to_what_it_began_with)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *fork = NULL;
    uint64_t id;
    CHECK_RUN(l.sb, "cd /tmp; x=1; echo 1 >f", 0, "");
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    CHECK_RUN(fork, "x=2; rm f", 0, "");
    CHECK_EQ(wsand_snapshot_restore(fork, id, NULL), -ENOENT);
    CHECK_EQ(wsand_reset(fork, NULL), 0);
    CHECK_RUN(fork, "echo $x; cat f", 0, "1\n1\n");
    wsand_sandbox_free(fork);
    lib_free(&l);
}

TEST(a_snapshot_may_be_taken_while_files_are_removed_and_open)
{
    LIB_SANDBOX(l, .files = 0);
    uint64_t id;
    CHECK_RUN(l.sb,
              "cd /tmp; mkdir d; cd d; echo x >f; exec 5<f; rm f; rmdir ../d",
              0, "");
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_RUN(l.sb, "cat <&5", 0, "x\n");
    CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
    CHECK_RUN(l.sb, "cat <&5; cd /tmp && pwd", 0, "/tmp\n");
    lib_free(&l);
}
