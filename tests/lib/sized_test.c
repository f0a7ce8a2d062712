/* Structures of callers that were compiled with another version. */
#include "lib_test.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct newer_options {
    struct wsand_options options;
    uint64_t later;
};

static int
new_sandbox(struct lib *l, const void *o, struct wsand_error *err)
{
    struct wsand_sandbox *sb = NULL;

    int r = wsand_sandbox_new(l->rt, o, &sb, err);
    wsand_sandbox_free(sb);
    return r;
}

TEST(options_of_older_versions_are_taken)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_options o;
    memset(&o, 0xff, sizeof o);
    memset(&o, 0, offsetof(struct wsand_options, memory_bytes));
    o.size = offsetof(struct wsand_options, memory_bytes);
    CHECK_EQ(new_sandbox(&l, &o, NULL), 0);
    lib_free(&l);
}

TEST(options_of_newer_versions_are_taken_unless_they_are_used)
{
    LIB_SANDBOX(l, .files = 0);
    struct newer_options o = {.options.size = sizeof o};
    struct wsand_error err;
    CHECK_EQ(new_sandbox(&l, &o, NULL), 0);
    o.later = 1;
    CHECK_EQ(new_sandbox(&l, &o, &err), -EINVAL);
    CHECK(strstr(err.message, "EINVAL: struct wsand_options: of "));
    lib_free(&l);
}

TEST(a_size_that_was_not_set_is_named)
{
    LIB_SANDBOX(l, .files = 0);
    const struct wsand_run run = {.size = sizeof run};
    struct wsand_output out = {0};
    struct wsand_status st = {0};
    struct wsand_error err;
    CHECK_EQ(new_sandbox(&l, &(struct wsand_options){0}, &err), -EINVAL);
    CHECK_STR(err.message,
              "EINVAL: struct wsand_options: the size 0 is not valid");
    CHECK_EQ(wsand_status(l.sb, &st, &err), -EINVAL);
    CHECK_STR(err.message,
              "EINVAL: struct wsand_status: the size 0 is not valid");
    CHECK_EQ(wsand_run(l.sb, &run, &out, &err), -EINVAL);
    CHECK_STR(err.message,
              "EINVAL: struct wsand_output: the size 0 is not valid");
    lib_free(&l);
}

TEST(of_a_result_only_what_the_caller_has_is_filled)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_status st;
    memset(&st, 0x55, sizeof st);
    st.size = offsetof(struct wsand_status, files);
    CHECK_EQ(wsand_status(l.sb, &st, NULL), 0);
    CHECK_EQ(st.size, offsetof(struct wsand_status, files));
    CHECK_EQ(st.processes, 0);
    CHECK_EQ(st.files, 0x5555555555555555);
    lib_free(&l);
}
