/* Tries several ways from one state: fork ROOT-IMAGE. A fork has the files and
 * the shell of its origin, and costs microseconds. */
#include <wasmsand.h>

#include <stdio.h>
#include <string.h>

static int
say(struct wsand_sandbox *sb, const char *command, struct wsand_error *err)
{
    struct wsand_run run = {
        .size = sizeof run, .command = command, .command_len = strlen(command)};
    struct wsand_output out = {.size = sizeof out};

    int r = wsand_run(sb, &run, &out, err);
    if (r < 0)
        return r;
    printf("%.*s", (int)out.out_len, out.out);
    wsand_output_free(&out);
    return 0;
}

static int
try_ways(struct wsand_sandbox *sb, struct wsand_error *err)
{
    static const char *const ways[] = {"sum=$((a + b)); echo $sum >f",
                                       "sum=$((a * b)); echo $sum >f"};

    int r = say(sb, "cd /tmp; a=6 b=7; echo none >f", err);
    for (size_t i = 0; r == 0 && i < sizeof ways / sizeof *ways; i++) {
        struct wsand_sandbox *fork = NULL;
        r = wsand_fork(sb, &fork, err);
        if (r == 0)
            r = say(fork, ways[i], err);
        if (r == 0)
            r = say(fork, "echo fork: $sum; cat f", err);
        wsand_sandbox_free(fork);
    }
    return r < 0 ? r : say(sb, "echo origin: ${sum-none}; cat f", err);
}

int
main(int argc, char **argv)
{
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .root_image = argc > 1 ? argv[1] : NULL};
    struct wsand_options so = {.size = sizeof so};
    struct wsand_runtime *rt = NULL;
    struct wsand_sandbox *sb = NULL;
    struct wsand_error err;

    int r = wsand_runtime_new(&ro, &rt, &err);
    if (r == 0)
        r = wsand_sandbox_new(rt, &so, &sb, &err);
    if (r == 0)
        r = try_ways(sb, &err);
    if (r < 0)
        (void)fprintf(stderr, "fork: %s\n", err.message);
    wsand_sandbox_free(sb);
    wsand_runtime_free(rt);
    return r < 0;
}
