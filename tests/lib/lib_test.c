/* What the tests of the library share. */
#include "lib_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
need(int r, const struct wsand_error *err)
{
    if (r == 0)
        return;
    printf("no sandbox: %s\n", err->message);
    exit(1);
}

void
lib_new(struct lib *l, const struct wsand_options *o)
{
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .max_processes = 100,
                                       .root_image = getenv("WASMSAND_ROOT")};
    struct wsand_error err;

    need(wsand_runtime_new(&ro, &l->rt, &err), &err);
    need(wsand_sandbox_new(l->rt, o, &l->sb, &err), &err);
}

void
lib_free(struct lib *l)
{
    wsand_sandbox_free(l->sb);
    wsand_runtime_free(l->rt);
}

void
lib_check_str(const char *file, int line, const char *got, const char *want)
{
    if (got && !strcmp(got, want))
        return;
    test_failed(file, line, "the text");
    printf("    is   %s\n    not  %s\n", got ? got : "(null)", want);
}
