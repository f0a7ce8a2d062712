/* With a seed and a clock, the same commands give the same bytes. */
#include "shell_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

static const char *const commands[] = {
    "echo $RANDOM $RANDOM $SRANDOM $EPOCHREALTIME $SECONDS $$ $BASHPID",
    "date +%s.%N; sleep 1.5; date +%s.%N; printf '%(%s)T\\n' -1",
    "cd /tmp; f=$(mktemp); echo $f; echo x >$f; mktemp -d; ls -lai --full-time",
    "ps aux; ps -ef; cat /proc/self/stat /proc/self/status /proc/stat",
    "cat /proc/uptime /proc/meminfo /proc/loadavg /proc/self/maps",
    "cat /proc/sys/kernel/random/uuid /proc/sys/kernel/random/boot_id",
    "head -c 32 /dev/urandom | od -An -tx1; sort -R <<<$'a\\nb\\nc\\nd'",
    "for i in 1 2 3; do (sleep 0.$i; echo $i $BASHPID $RANDOM) & done; wait",
    "yes | head -n 100000 | sort | uniq -c; seq 2000 | shuf | md5sum",
    "(echo a; echo b >&2; kill -9 $BASHPID) | cat; times",
    "time sleep 0.1; stat /tmp /proc /etc/passwd; find / -xdev | md5sum",
    "for i in {1..20}; do echo $i >f & done; wait; cat f; jobs; df; uname -a",
    "awk 'BEGIN { srand(); print rand(), srand() }'",
};

/* What all commands print, in a runtime of its own; to be freed. */
static char *
transcript(void)
{
    char *text = calloc(1, TEXT_MAX);
    size_t len = 0;
    LIB_SANDBOX(l, .is_deterministic = true, .seed = 7,
                .clock_ns = INT64_C(1700000000123456789));

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct wsand_run run = {.size = sizeof run,
                                .command = commands[i],
                                .command_len = strlen(commands[i]),
                                .timeout_ms = 100000};
        struct wsand_output o = {.size = sizeof o};
        CHECK_EQ(wsand_run(l.sb, &run, &o, NULL), 0);
        CHECK(!o.timed_out);
        int n = snprintf(
            text + len, TEXT_MAX - len, "== %s\n%.*s-- %d, %d\n%.*s%.*s",
            commands[i], (int)o.out_len, o.out ? o.out : "", o.exit_code,
            (int)o.out_dropped, (int)o.err_len, o.err ? o.err : "",
            (int)o.background_len, o.background ? o.background : "");
        len += (size_t)n;
        CHECK(len < TEXT_MAX);
        wsand_output_free(&o);
    }
    lib_free(&l);
    return text;
}

static void
show_difference(const char *a, const char *b)
{
    size_t at = 0;

    while (a[at] && a[at] == b[at])
        at++;
    while (at && a[at - 1] != '\n')
        at--;
    printf("    %.200s\n    --\n    %.200s\n", a + at, b + at);
}

TEST(the_same_commands_give_the_same_bytes)
{
    char *a = transcript(), *b = transcript();

    CHECK(!strcmp(a, b));
    if (strcmp(a, b) != 0)
        show_difference(a, b);
    if (getenv("SHOW"))
        puts(a);
    free(a);
    free(b);
}

TEST(what_is_started_first_begins_first)
{
    LIB_SANDBOX(l, .is_deterministic = true, .seed = 7, .clock_ns = 1);

    CHECK_RUN(l.sb, "for i in 1 2 3 4; do echo $i & done; wait", 0,
              "1\n2\n3\n4\n");
    CHECK_RUN(l.sb, "for i in 1 2 3 4; do /bin/echo $i & done; wait", 0,
              "1\n2\n3\n4\n");
    CHECK_RUN(l.sb, "bash -xc ': | cat' 2>&1", 0, "+ :\n+ cat\n");
    lib_free(&l);
}
