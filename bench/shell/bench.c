/* The resident shell, through the public library: create, run, fork,
 * snapshots, memory.
 *
 * Prints the best of many times, and for some the median.
 *
 * usage: shell ROOT-IMAGE */
#include "wasmsand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 300, CROWD = 1000 };

static struct wsand_runtime *runtime;
static const struct wsand_options options = {.size = sizeof options,
                                             .files = 100000};

static double
now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void
die(const char *what, const struct wsand_error *err)
{
    fprintf(stderr, "bench/shell: %s: %s\n", what, err->message);
    exit(2);
}

static struct wsand_sandbox *
create(void)
{
    struct wsand_sandbox *sb;
    struct wsand_error err;

    if (wsand_sandbox_new(runtime, &options, &sb, &err) < 0)
        die("create", &err);
    return sb;
}

static void
run(struct wsand_sandbox *sb, const char *command)
{
    struct wsand_run r = {
        .size = sizeof r, .command = command, .command_len = strlen(command)};
    struct wsand_output out = {.size = sizeof out};
    struct wsand_error err;

    if (wsand_run(sb, &r, &out, &err) < 0)
        die(command, &err);
    if (out.exit_code) {
        fprintf(stderr, "bench/shell: %s: status %d: %.*s\n", command,
                out.exit_code, (int)out.err_len, out.err);
        exit(2);
    }
    wsand_output_free(&out);
}

static void
checkpoint(struct wsand_sandbox *sb)
{
    struct wsand_error err;

    if (wsand_checkpoint(sb, &err) < 0)
        die("checkpoint", &err);
}

static struct wsand_sandbox *
fork_of(struct wsand_sandbox *sb)
{
    struct wsand_sandbox *copy;
    struct wsand_error err;

    if (wsand_fork(sb, &copy, &err) < 0)
        die("fork", &err);
    return copy;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void
row(const char *what, double *us)
{
    qsort(us, ROUNDS, sizeof *us, compare);
    printf("%s %.2f us\n%s, median %.2f us\n", what, us[0], what,
           us[ROUNDS / 2]);
}

#define MEASURE(what, before, body, after) \
    do {                                   \
        double us[ROUNDS];                 \
        for (int i = 0; i < ROUNDS; i++) { \
            before;                        \
            double start = now_us();       \
            body;                          \
            us[i] = now_us() - start;      \
            after;                         \
        }                                  \
        row(what, us);                     \
    } while (0)

static void
bench_commands(void)
{
    static const struct {
        const char *name, *command;
    } rows[] = {
        {"run true", "true"},
        {"run echo", "echo a"},
        {"run ls", "ls /"},
        {"run echo | tr | sort", "/bin/echo b | tr b a | sort"},
        {"run cat | grep | wc", "cat /tmp/f | grep x | wc -l"},
        {"run substitution", "x=$(echo a)"},
    };
    struct wsand_sandbox *sb = create();

    run(sb, "seq 1000 | sed s/$/x/ > /tmp/f");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        MEASURE(rows[r].name, checkpoint(sb), run(sb, rows[r].command),
                (void)0);
    MEASURE("run true, back to back", (void)0,
            (run(sb, "true"), checkpoint(sb)), (void)0);
    wsand_sandbox_free(sb);
}

static void
bench_life(void)
{
    struct wsand_sandbox *sb = NULL;

    MEASURE("create", (void)0, sb = create(), wsand_sandbox_free(sb));
    MEASURE("create + run", (void)0, (sb = create(), run(sb, "true")),
            wsand_sandbox_free(sb));
    MEASURE("create + run + destroy", (void)0,
            (sb = create(), run(sb, "true"), wsand_sandbox_free(sb)), (void)0);
}

static void
bench_fork(void)
{
    struct wsand_sandbox *sb = create(), *copy = NULL;

    run(sb, "mkdir /tmp/d; cd /tmp/d; for i in {1..10000}; do : > $i; done");
    run(sb, "v=$(head -c 1000000 /dev/zero | tr '\\0' x)");
    checkpoint(sb);
    MEASURE("fork of a sandbox", (void)0, copy = fork_of(sb),
            wsand_sandbox_free(copy));
    MEASURE("fork + run + destroy", (void)0,
            (copy = fork_of(sb), run(copy, "x=1"), wsand_sandbox_free(copy)),
            (void)0);
    MEASURE("run in that sandbox", (void)0, run(sb, "x=1"), (void)0);
    wsand_sandbox_free(sb);
}

static uint64_t
snapshot_and_restore(struct wsand_sandbox *sb)
{
    struct wsand_error err;
    uint64_t id;

    if (wsand_snapshot_create(sb, &id, &err) < 0 ||
        wsand_snapshot_restore(sb, id, &err) < 0)
        die("snapshot", &err);
    return id;
}

static void
bench_snapshot(void)
{
    struct wsand_sandbox *sb = create();
    uint64_t id = 0;

    MEASURE("snapshot + restore",
            (run(sb, "x=1; echo $x >/tmp/f"), checkpoint(sb)),
            id = snapshot_and_restore(sb),
            (void)wsand_snapshot_delete(sb, id, NULL));
    wsand_sandbox_free(sb);
}

static long
rss_kib(void)
{
    long pages = 0, unused;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f || fscanf(f, "%ld %ld", &unused, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * 4;
}

static void
bench_crowd(void)
{
    static struct wsand_sandbox *crowd[CROWD];
    long before = rss_kib();

    for (int i = 0; i < CROWD; i++) {
        crowd[i] = create();
        run(crowd[i], "cd /tmp; x=1; f() { echo $x; }; f >/dev/null");
        checkpoint(crowd[i]);
    }
    printf("idle sandbox %ld KiB\n", (rss_kib() - before) / CROWD);
    MEASURE("run true, from frozen", (void)0, run(crowd[i], "true"), (void)0);
    for (int i = 0; i < CROWD; i++)
        wsand_sandbox_free(crowd[i]);
}

int
main(int argc, char **argv)
{
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .max_processes = 2 * CROWD};
    struct wsand_error err;

    if (argc != 2) {
        fprintf(stderr, "usage: shell ROOT-IMAGE\n");
        return 2;
    }
    ro.root_image = argv[1];
    if (wsand_runtime_new(&ro, &runtime, &err) < 0)
        die("runtime", &err);
    struct wsand_sandbox *first = create();
    run(first, "true");
    wsand_sandbox_free(first);
    bench_life();
    bench_commands();
    bench_fork();
    bench_snapshot();
    bench_crowd();
    wsand_runtime_free(runtime);
    return 0;
}
