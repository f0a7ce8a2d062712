/* Memory for code. */
#include "../unit/test.h"
#include "v86/jit_arena.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* mov eax, value; ret */
static void *
add_function(struct jit_arena *a, uint8_t value, size_t bytes)
{
    uint8_t code[4096] = {0xb8, value, 0, 0, 0, 0xc3};

    return jit_arena_add(a, code, bytes);
}

static int
run(void *code)
{
    return ((int (*)(void))code)();
}

/* Returns the protection of the page as Linux lists it, such as "r-xp". */
static bool
protection_is(const void *address, const char *want)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], got[5] = "";
    unsigned long start, end;

    while (maps && fgets(line, sizeof line, maps)) {
        char text[5];
        if (sscanf(line, "%lx-%lx %4s", &start, &end, text) == 3 &&
            start <= (uintptr_t)address && (uintptr_t)address < end)
            memcpy(got, text, sizeof got);
    }
    if (maps)
        (void)fclose(maps);
    return !strcmp(got, want);
}

TEST(code_in_the_arena_runs_and_is_not_writable)
{
    struct jit_arena *a = NULL;

    CHECK_EQ(jit_arena_new(1 << 20, &a), 0);
    void *one = add_function(a, 1, 100), *two = add_function(a, 2, 5000 - 904);
    CHECK(one && two && one != two);
    CHECK_EQ(run(one), 1);
    CHECK_EQ(run(two), 2);
    CHECK(protection_is(one, "r-xp"));
    CHECK(protection_is((char *)two + 4000, "r-xp"));
    CHECK_EQ(jit_arena_used(a), 128 + 4096);
    jit_arena_free(a);
}

TEST(space_of_removed_code_is_used_again_and_bounded)
{
    struct jit_arena *a = NULL;
    void *code[4];

    CHECK_EQ(jit_arena_new(4 * 4096, &a), 0);
    for (uint8_t i = 0; i < 4; i++)
        code[i] = add_function(a, i, 4096);
    CHECK(!add_function(a, 9, 1));
    jit_arena_remove(a, code[1]);
    jit_arena_remove(a, code[1]);
    CHECK_EQ(jit_arena_used(a), 3 * 4096);
    CHECK(!jit_arena_add(a, code[0], 4097));
    void *small = add_function(a, 7, 64);
    CHECK(small == code[1]);
    CHECK_EQ(run(code[0]) + run(code[2]) + run(small), 0 + 2 + 7);
    jit_arena_free(a);
}

TEST(the_number_of_pieces_is_bounded)
{
    struct jit_arena *a = NULL;

    CHECK_EQ(jit_arena_new(1 << 20, &a), 0);
    for (int i = 0; i < JIT_PIECES_MAX; i++)
        CHECK(add_function(a, 1, 6) != NULL);
    CHECK(!add_function(a, 1, 6));
    jit_arena_free(a);
}

TEST(a_forked_process_changes_only_its_own_code)
{
    struct jit_arena *a = NULL;
    int status = 0;

    CHECK_EQ(jit_arena_new(1 << 20, &a), 0);
    void *code = add_function(a, 1, 64);
    pid_t child = fork();
    if (child == 0) {
        jit_arena_remove(a, code);
        _exit(add_function(a, 42, 64) == code ? run(code) : 0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(WEXITSTATUS(status), 42);
    CHECK_EQ(run(code), 1);
    jit_arena_free(a);
}

TEST(an_arena_needs_memory)
{
    EACH_OOM(oom) {
        struct jit_arena *a = NULL;
        int r = jit_arena_new(1 << 20, &a);
        CHECK_EQ(r == 0, !test_alloc_failed());
        jit_arena_free(a);
    }
}
