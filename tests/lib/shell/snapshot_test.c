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
              "exec 5<>a; umask 077; ulimit -n 99; (exit 2)",
              2, "");
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_status(l.sb, &before, NULL), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_RUN(l.sb, "cd /; x=2; unset -f f; rm /tmp/a; exec 5>&-", 0, "");
        CHECK_RUN(l.sb, "set +u; export E=; umask 0; echo b >/tmp/b", 0, "");
        CHECK_RUN(l.sb, "ulimit -n 50", 0, "");
        CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
        CHECK_EQ(wsand_status(l.sb, &after, NULL), 0);
        CHECK_EQ(after.files, before.files);
        CHECK_EQ(after.file_bytes, before.file_bytes);
        CHECK_RUN(l.sb, "echo $? $PWD $E $-; f; ls; umask; cat <&5; echo $$", 0,
                  "2 /tmp e huBs\nf1\na\n0077\na\n2\n");
        CHECK_RUN(l.sb, "ulimit -n; (exit 2)", 2, "99\n");
    }
    lib_free(&l);
}

TEST(forks_share_a_large_shell_and_nothing_that_they_change)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *copy;
    CHECK_RUN(l.sb,
              "v=$(head -c 1500000 /dev/zero | tr '\\0' x); a=({1..9999});"
              "sum() { printf '%s\n' \"$v\" \"${a[@]}\" | cksum; }; sum",
              0, "1074991366 1548889\n");
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(wsand_fork(l.sb, &copy, NULL), 0);
        CHECK_RUN(copy, "sum; (sum); echo ${new-none}; a[5]=b v=y$v new=1; sum",
                  0,
                  "1074991366 1548889\n1074991366 1548889\nnone\n"
                  "2424505729 1548890\n");
        CHECK_RUN(copy, "sum", 0, "2424505729 1548890\n");
        wsand_sandbox_free(copy);
    }
    CHECK_EQ(wsand_fork(l.sb, &copy, NULL), 0);
    CHECK_RUN(l.sb, "sum", 0, "1074991366 1548889\n");
    CHECK_RUN(l.sb, "v=; a=()", 0, "");
    CHECK_RUN(copy, "sum", 0, "1074991366 1548889\n");
    wsand_sandbox_free(copy);
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

/* Saved and loaded again, maybe into another sandbox. */
static uint64_t
carry(struct wsand_sandbox *from, uint64_t id, struct wsand_sandbox *to)
{
    struct wsand_error err;
    void *data = NULL;
    uint64_t ret = 0;
    size_t len;

    if (wsand_snapshot_save(from, id, &data, &len, &err) < 0 ||
        wsand_snapshot_load(to, data, len, &ret, &err) < 0)
        test_failed(__FILE__, __LINE__, err.message);
    free(data);
    return ret;
}

TEST(a_snapshot_can_be_carried_to_another_sandbox)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_options o = {.size = sizeof o};
    struct wsand_sandbox *sb = NULL;
    uint64_t id;
    CHECK_EQ(wsand_sandbox_new(l.rt, &o, &sb, NULL), 0);
    CHECK_RUN(l.sb,
              "mkdir /tmp/d; cd /tmp/d; x=1; f() { echo f$x; }; set -u;"
              "echo abc >a; exec 5<>a 6<a 7</etc/passwd; read -n1 -u5; rm -f "
              "~/.*[ce];"
              "trap 'echo t' USR1; umask 077; ln a b; (exit 2)",
              2, "");
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_RUN(l.sb, "x=2; rm a", 0, "");
    uint64_t there = carry(l.sb, id, sb), again = carry(sb, there, sb);
    CHECK(again > there);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(wsand_snapshot_restore(sb, again, NULL), 0);
        CHECK_RUN(sb, "echo $? $PWD $-; f; cat <&5; cat <&6; ls -A . ~", 0,
                  "2 /tmp/d huBs\nf1\nbc\nabc\n.:\na\nb\n\n/home/user:\n");
        CHECK_RUN(sb, "kill -USR1 $$; umask; stat -c %h a; echo x >>a", 0,
                  "t\n0077\n2\n");
        CHECK_RUN(sb, "read -u7; echo ${REPLY%%:*}; x=3", 0, "root\n");
    }
    char **v;
    CHECK_EQ(wsand_snapshot_restore(sb, again, NULL), 0);
    CHECK_EQ(wsand_history_list(sb, &v, NULL), 0);
    CHECK(v[0] && !v[1]);
    free(v);
    wsand_sandbox_free(sb);
    lib_free(&l);
}

TEST(damaged_snapshots_are_refused)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_error err;
    uint64_t id, other;
    void *data = NULL;
    size_t len;
    CHECK_RUN(l.sb, "x=1; exec 5</etc/passwd", 0, "");
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_snapshot_save(l.sb, id, &data, &len, NULL), 0);
    CHECK_EQ(wsand_snapshot_load(l.sb, data, len - 1, &other, NULL), -EINVAL);
    CHECK_EQ(wsand_snapshot_load(l.sb, data, 7, &other, NULL), -EINVAL);
    ((char *)data)[len / 2] ^= 1;
    CHECK_EQ(wsand_snapshot_load(l.sb, data, len, &other, &err), -EINVAL);
    CHECK_STR(err.message, "EINVAL: not a snapshot, or damaged");
    ((char *)data)[len / 2] ^= 1;
    ((char *)data)[8] ^= 1;
    CHECK_EQ(wsand_snapshot_load(l.sb, data, len, &other, &err), -EINVAL);
    CHECK_STR(err.message, "EINVAL: not a snapshot, or damaged");
    CHECK_EQ(wsand_snapshot_save(l.sb, 99, &data, &len, NULL), -ENOENT);
    free(data);
    lib_free(&l);
}
