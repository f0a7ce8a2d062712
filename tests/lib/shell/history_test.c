/* The commands that were run. */
#include "shell_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
check_history(const char *file, int line, struct wsand_sandbox *sb,
              const char *want)
{
    char **v, text[512] = "";

    if (wsand_history_list(sb, &v, NULL) < 0) {
        test_failed(file, line, "a history");
        return;
    }
    for (char **s = v; *s; s++) {
        strcat(text, *s);
        strcat(text, "|");
    }
    lib_check_str(file, line, text, want);
    free(v);
}
#define CHECK_HISTORY(sb, want) check_history(__FILE__, __LINE__, sb, want)

TEST(commands_are_listed_the_oldest_first)
{
    LIB_SANDBOX(l, .command_bytes = 20);
    const char *env[] = {"A=1", NULL};
    struct wsand_run run = {.size = sizeof run, .env = env};
    char *value;
    CHECK_HISTORY(l.sb, "");
    CHECK_RUN(l.sb, "true", 0, "");
    CHECK_RUN(l.sb, "false", 1, "");
    CHECK_RUN(l.sb, "kill -9 $$", 137, "");
    CHECK_RUN(l.sb, "true aaaaaaaaaaaaaaaaaaaaaaa", 1, "");
    CHECK_WITH(l.sb, &run, "echo $A", 0, "1\n");
    CHECK_EQ(wsand_env_get(l.sb, "A", &value, NULL), 0);
    CHECK_HISTORY(l.sb, "true|false|kill -9 $$|echo $A|");
    wsand_history_clear(l.sb);
    CHECK_HISTORY(l.sb, "");
    CHECK_RUN(l.sb, ":", 0, "");
    CHECK_HISTORY(l.sb, ":|");
    lib_free(&l);
}

TEST(history_is_forked_and_part_of_snapshots)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *fork = NULL;
    uint64_t id;
    CHECK_RUN(l.sb, ": a", 0, "");
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    CHECK_RUN(l.sb, ": b", 0, "");
    CHECK_RUN(fork, ": c", 0, "");
    CHECK_HISTORY(l.sb, ": a|: b|");
    CHECK_HISTORY(fork, ": a|: c|");
    wsand_history_clear(l.sb);
    CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
    CHECK_HISTORY(l.sb, ": a|");
    CHECK_EQ(wsand_reset(l.sb, NULL), 0);
    CHECK_HISTORY(l.sb, "");
    CHECK_EQ(wsand_reset(fork, NULL), 0);
    CHECK_HISTORY(fork, ": a|");
    wsand_sandbox_free(fork);
    lib_free(&l);
}

TEST(only_the_newest_commands_are_kept)
{
    LIB_SANDBOX(l, .files = 0);
    char **v, text[32];
    size_t n = 0;
    for (int i = 0; i < 1005; i++) {
        (void)snprintf(text, sizeof text, ": %d", i);
        CHECK_RUN(l.sb, text, 0, "");
    }
    CHECK_EQ(wsand_history_list(l.sb, &v, NULL), 0);
    while (v[n])
        n++;
    CHECK_EQ(n, 1000);
    CHECK_STR(v[0], ": 5");
    CHECK_STR(v[999], ": 1004");
    free(v);
    lib_free(&l);
}

TEST(the_bytes_of_the_history_are_bounded)
{
    LIB_SANDBOX(l, .command_bytes = 2 << 20);
    char *text = malloc(600001), **v;
    memset(text, 'x', 600000);
    memcpy(text, ": ", 2);
    text[600000] = 0;
    CHECK_RUN(l.sb, ": a", 0, "");
    CHECK_RUN(l.sb, text, 0, "");
    CHECK_RUN(l.sb, text, 0, "");
    CHECK_EQ(wsand_history_list(l.sb, &v, NULL), 0);
    CHECK(v[0] && strlen(v[0]) == 600000 && !v[1]);
    free(v);
    free(text);
    lib_free(&l);
}
