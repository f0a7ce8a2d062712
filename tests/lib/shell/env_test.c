/* The environment. */
#include "shell_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
check_get(struct wsand_sandbox *sb, const char *name, const char *want)
{
    char *value = NULL;

    CHECK_EQ(wsand_env_get(sb, name, &value, NULL), 0);
    if (want)
        CHECK_STR(value, want);
    else
        CHECK(!value);
    free(value);
}

TEST(variables_are_set_got_and_unset)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_EQ(wsand_env_set(l.sb, "A", "1", NULL), 0);
    CHECK_RUN(l.sb, "printenv A; export B=2 C=; D=4; (exit 3)", 3, "1\n");
    check_get(l.sb, "A", "1");
    check_get(l.sb, "B", "2");
    check_get(l.sb, "C", "");
    check_get(l.sb, "D", NULL);
    check_get(l.sb, "NONE", NULL);
    check_get(l.sb, "HOME", "/home/user");
    CHECK_EQ(wsand_env_unset(l.sb, "A", NULL), 0);
    CHECK_EQ(wsand_env_unset(l.sb, "NONE", NULL), 0);
    check_get(l.sb, "A", NULL);
    CHECK_RUN(l.sb, "echo $? ${A-none}; declare -F", 0, "3 none\n");
    lib_free(&l);
}

TEST(values_may_be_any_bytes)
{
    LIB_SANDBOX(l, .files = 0);
    char all[256];
    for (int i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    all[255] = 0;
    const char *values[] = {"",      "a b",  "'",    "\"",   "\n",
                            "a\n\n", "\\",   "$",    "`id`", "\x01",
                            "\x7f",  "äöü€", "\xff", "!",    all};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        CHECK_EQ(wsand_env_set(l.sb, "V", values[i], NULL), 0);
        check_get(l.sb, "V", values[i]);
    }
    CHECK_RUN(l.sb, "printenv V | wc -c", 0, "256\n");
    lib_free(&l);
}

TEST(a_large_value_survives)
{
    LIB_SANDBOX(l, .files = 0);
    char *big = malloc(1000001);
    memset(big, 'x', 1000000);
    big[1000000] = 0;
    CHECK_EQ(wsand_env_set(l.sb, "V", big, NULL), 0);
    check_get(l.sb, "V", big);
    free(big);
    lib_free(&l);
}

TEST(wrong_names_are_refused)
{
    LIB_SANDBOX(l, .files = 0);
    const char *names[] = {"", "1", "a-b", "a=b", "a b", "$x", "ä", "x;id"};
    struct wsand_error err;
    char *value;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_EQ(wsand_env_set(l.sb, names[i], "", NULL), -EINVAL);
        CHECK_EQ(wsand_env_get(l.sb, names[i], &value, NULL), -EINVAL);
        CHECK_EQ(wsand_env_unset(l.sb, names[i], NULL), -EINVAL);
    }
    CHECK_EQ(wsand_env_set(l.sb, "UID", "5", &err), -EPERM);
    CHECK_STR(err.message, "EPERM: variable cannot be changed: UID");
    CHECK_EQ(wsand_env_unset(l.sb, "UID", NULL), -EPERM);
    lib_free(&l);
}

TEST(the_list_has_what_is_exported)
{
    LIB_SANDBOX(l, .files = 0);
    char **list = NULL;
    bool found = false, sorted = true;
    CHECK_EQ(wsand_env_set(l.sb, "A", "x\ny", NULL), 0);
    CHECK_RUN(l.sb, "B=2", 0, "");
    CHECK_EQ(wsand_env_list(l.sb, &list, NULL), 0);
    for (char **e = list; e && *e; e++) {
        found |= !strcmp(*e, "A=x\ny");
        sorted &= e == list || strcmp(e[-1], *e) < 0;
        CHECK(strncmp(*e, "B=", 2) != 0);
    }
    CHECK(found && sorted);
    free(list);
    lib_free(&l);
}

TEST(the_options_environment_is_there_from_the_start)
{
    const char *env[] = {"A=1", "HOME=/tmp", NULL};
    LIB_SANDBOX(l, .env = env);
    struct wsand_sandbox *fork = NULL;
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    CHECK_RUN(l.sb, "echo $A ~; printenv A; unset A", 0, "1 /tmp\n1\n");
    CHECK_RUN(l.sb, "echo ${A-none}", 0, "none\n");
    CHECK_RUN(fork, "echo ${A-none}", 0, "1\n");
    wsand_sandbox_free(fork);
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    CHECK_RUN(fork, "echo ${A-none}", 0, "none\n");
    wsand_sandbox_free(fork);
    lib_free(&l);
}

TEST(a_shell_that_is_spoilt_does_not_hang_the_host)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_RUN(l.sb, "x=1; builtin() { while :; do :; done; }", 0, "");
    CHECK_EQ(wsand_env_set(l.sb, "A", "1", NULL), -ETIMEDOUT);
    CHECK_RUN(l.sb, "unset -f builtin; echo $x", 0, "1\n");
    CHECK_EQ(wsand_env_set(l.sb, "A", "1", NULL), 0);
    lib_free(&l);
}

TEST(questions_leave_no_trace)
{
    LIB_SANDBOX(l, .files = 0);
    char *value = NULL, **list = NULL;
    CHECK_RUN(l.sb, "true a b | false | (exit 3)", 3, "");
    CHECK_EQ(wsand_env_get(l.sb, "HOME", &value, NULL), 0);
    CHECK_EQ(wsand_env_list(l.sb, &list, NULL), 0);
    CHECK_RUN(l.sb, "echo $? ${PIPESTATUS[@]}", 0, "3 0 1 3\n");
    CHECK_RUN(l.sb, ": last", 0, "");
    CHECK_EQ(wsand_env_set(l.sb, "A", "1", NULL), 0);
    CHECK_RUN(l.sb, "echo $_ $A", 0, "last 1\n");
    CHECK_RUN(l.sb, "false last", 1, "");
    CHECK_EQ(wsand_env_unset(l.sb, "A", NULL), 0);
    CHECK_RUN(l.sb, "echo $? $_ ${A-none}", 0, "1 last none\n");
    free(value);
    free(list);
    lib_free(&l);
}

TEST(env_changes_leave_the_statuses_of_the_last_pipeline)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_run run = {.size = sizeof run, .cwd = "/tmp"};
    char *value = NULL;

    CHECK_RUN(l.sb, "false | true | (exit 3)", 3, "");
    CHECK_EQ(wsand_env_set(l.sb, "A", "1", NULL), 0);
    CHECK_EQ(wsand_env_get(l.sb, "A", &value, NULL), 0);
    free(value);
    CHECK_EQ(wsand_env_unset(l.sb, "A", NULL), 0);
    CHECK_WITH(l.sb, &run, "echo $? ${PIPESTATUS[@]}", 0, "3 1 0 3\n");
    CHECK_WITH(l.sb, &run, "(exit 4) | (exit 5)", 5, "");
    CHECK_RUN(l.sb, "echo $? ${PIPESTATUS[@]}", 0, "5 4 5\n");
    lib_free(&l);
}
