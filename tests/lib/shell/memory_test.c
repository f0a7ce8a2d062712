/* The shell's memory from command to command. */
#include "shell_test.h"

static uint64_t
used(struct lib *l)
{
    struct wsand_status s = {.size = sizeof s};
    CHECK_EQ(wsand_checkpoint(l->sb, NULL), 0);
    CHECK_EQ(wsand_status(l->sb, &s, NULL), 0);
    return s.memory_bytes;
}

TEST(large_variables_that_were_unset_are_given_back)
{
    LIB_SANDBOX(l, .memory_bytes = 128 << 20);
    CHECK_RUN(l.sb, "y=kept; f() { echo function; }", 0, "");
    uint64_t before = used(&l);
    CHECK_RUN(l.sb,
              "x=$(head -c 4000000 /dev/zero | tr '\\0' a)\n"
              "for v in v{1..20}; do printf -v $v %s \"$x\"; done",
              0, "");
    CHECK(used(&l) > 72 << 20);
    CHECK_RUN(l.sb, "ls", 254, "");
    CHECK_RUN(l.sb, "unset x ${!v*}; z=1", 0, "");
    CHECK(used(&l) < before + (2 << 20));
    CHECK_RUN(l.sb, "ls -d /tmp; echo $y $z; f", 0, "/tmp\nkept 1\nfunction\n");
    CHECK_RUN(l.sb, "z=$(head -c 9000000 /dev/zero | tr '\\0' b); echo ${#z}",
              0, "9000000\n");
    lib_free(&l);
}

TEST(many_small_variables_that_were_unset_are_used_again)
{
    LIB_SANDBOX(l, .memory_bytes = 64 << 20);
    uint64_t high = 0;

    CHECK_RUN(l.sb, "y=kept; b=(1 2 3)", 0, "");
    for (int i = 0; i < 3; i++) {
        CHECK_RUN(l.sb, "for ((i = 0; i < 200000; i++)); do a[i]=$i; done", 0,
                  "");
        if (i == 0)
            high = used(&l);
        CHECK_RUN(l.sb, "unset a; c=late", 0, "");
        CHECK(used(&l) <= high + (1 << 20));
        CHECK_RUN(l.sb, "echo $(echo $y ${b[@]} $c $i)", 0,
                  "kept 1 2 3 late 200000\n");
    }
    lib_free(&l);
}
