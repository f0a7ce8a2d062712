/* What happens at limits: limits ROOT-IMAGE. The sandbox goes on after each. */
#include <wasmsand.h>

#include <stdio.h>
#include <string.h>

static int
try(struct wsand_sandbox *sb, const char *command, struct wsand_error *err)
{
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .timeout_ms = 2000};
    struct wsand_output out = {.size = sizeof out};

    int r = wsand_run(sb, &run, &out, err);
    if (r < 0)
        return r;
    printf("%-40s %3d %s\n", command, out.exit_code,
           out.timed_out ? "time limit"
           : out.limit   ? out.limit
                         : "-");
    wsand_output_free(&out);
    return 0;
}

static int
try_all(struct wsand_sandbox *sb, struct wsand_error *err)
{
    static const char *const commands[] = {
        "while :; do :; done",
        "sleep 60",
        "head -c 2M /dev/zero >/tmp/f",
        "for i in {1..99}; do : >/tmp/$i || exit; done",
        "x=x; while :; do x=$x$x; done",
        "yes | head -c 10M",
        "echo still here",
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof commands / sizeof *commands; i++)
        r = try(sb, commands[i], err);
    return r;
}

int
main(int argc, char **argv)
{
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .root_image = argc > 1 ? argv[1] : NULL};
    struct wsand_options so = {.size = sizeof so,
                               .memory_bytes = 64 << 20,
                               .file_bytes = 1 << 20,
                               .files = 50,
                               .cpu_ms = 500};
    struct wsand_runtime *rt = NULL;
    struct wsand_sandbox *sb = NULL;
    struct wsand_error err;

    int r = wsand_runtime_new(&ro, &rt, &err);
    if (r == 0)
        r = wsand_sandbox_new(rt, &so, &sb, &err);
    if (r == 0)
        r = try_all(sb, &err);
    if (r < 0)
        (void)fprintf(stderr, "limits: %s\n", err.message);
    wsand_sandbox_free(sb);
    wsand_runtime_free(rt);
    return r < 0;
}
