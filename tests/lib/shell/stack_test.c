/* Commands that need a deep native stack. */
#include "shell_test.h"

#define MIB (UINT64_C(1) << 20)
#define F   "f() { [ $1 = 0 ] || f $(($1 - 1)); }; "

static uint64_t
memory_of(const struct wsand_sandbox *sb)
{
    struct wsand_status s = {.size = sizeof s};

    CHECK_EQ(wsand_status(sb, &s, NULL), 0);
    return s.memory_bytes;
}

TEST(a_deep_command_does_not_keep_its_stack)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_RUN(l.sb, F "f 10", 0, "");
    uint64_t before = memory_of(l.sb);
    for (int i = 0; i < 3; i++)
        CHECK_RUN(l.sb, "f 3000; echo $?", 0, "0\n");
    CHECK(memory_of(l.sb) < before + 12 * MIB);
    lib_free(&l);
}

TEST(a_stack_beyond_the_memory_limit_ends_its_process)
{
    LIB_SANDBOX(l, .memory_bytes = 43 * MIB);
    CHECK_RUN(l.sb, F "f 10", 0, "");
    uint64_t before = memory_of(l.sb);
    for (int i = 0; i < 3; i++)
        CHECK_RUN(l.sb, "(f 3000; echo no) 2>/dev/null; echo over", 0,
                  "over\n");
    CHECK_RUN(l.sb, "f 10; ls -d / | cat", 0, "/\n");
    CHECK(memory_of(l.sb) <= before + 2 * MIB);
    lib_free(&l);
}
