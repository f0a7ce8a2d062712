/* A sandbox, a command, files: hello ROOT-IMAGE. */
#include <wasmsand.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
tour(struct wsand_sandbox *sb, struct wsand_error *err)
{
    const char *text = "one\ntwo\nthree\n", *command = "sort f | tee sorted";
    struct wsand_write w = {
        .size = sizeof w, .path = "/tmp/f", .data = text, .len = strlen(text)};
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .cwd = "/tmp"};
    struct wsand_output out = {.size = sizeof out};
    void *data;
    size_t len;

    int r = wsand_file_write(sb, &w, err);
    if (r == 0)
        r = wsand_run(sb, &run, &out, err);
    if (r < 0)
        return r;
    printf("exit status %d, it printed:\n%.*s", out.exit_code, (int)out.out_len,
           out.out);
    wsand_output_free(&out);
    r = wsand_file_read(sb, "/tmp/sorted", 0, WSAND_ALL, &data, &len, err);
    if (r < 0)
        return r;
    printf("and wrote %zu bytes\n", len);
    free(data);
    return 0;
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
        r = tour(sb, &err);
    if (r < 0)
        (void)fprintf(stderr, "hello: %s\n", err.message);
    wsand_sandbox_free(sb);
    wsand_runtime_free(rt);
    return r < 0;
}
