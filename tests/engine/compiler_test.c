/* Programs compiled by processes: this program is their executable too. */
#include "fake_kernel.h"

#include "../unit/test.h"
#include "engine/compilation.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Before main, which would run the tests. */
__attribute__((constructor)) static void
compiler_serve_become(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "compile"))
        compiler_main();
}

static struct engine *
engine_with(const char *compiler)
{
    struct engine_options o = {.max_machines = 1, .compiler = compiler};
    struct engine *e = NULL;
    char why[200] = "";

    if (engine_new(&o, &e, why, sizeof why) < 0) {
        fprintf(stderr, "no engine: %s\n", why);
        exit(2);
    }
    return e;
}

TEST(what_a_process_compiles_runs)
{
    struct engine *e = engine_with("/proc/self/exe");
    char why[200] = "";
    struct program *p =
        fake_program(e, PROGRAM("(drop (i32.add (i32.const 1) (i32.const 2)))"),
                     false, why, sizeof why);
    struct fake f;

    if (!p)
        test_failed(__FILE__, __LINE__, why);
    if (p && !fake_init(&f, e, p)) {
        CHECK_EQ(fake_run(&f), MACHINE_ENDED);
        fake_fini(&f);
    }
    program_put(p);
    CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
    engine_free(e);
}

TEST(the_same_content_is_compiled_once)
{
    struct engine *e = engine_with("/proc/self/exe");
    struct program *a = fake_program(e, PROGRAM("nop"), false, NULL, 0);
    struct program *b = fake_program(e, PROGRAM("nop"), false, NULL, 0);

    CHECK(a && a == b);
    program_put(a);
    program_put(b);
    engine_free(e);
}

TEST(code_made_for_a_guest_is_not_used_for_a_trusted_program)
{
    struct engine *e = engine_with("/proc/self/exe");
    struct program *a = fake_program(e, PROGRAM("nop"), false, NULL, 0);
    struct program *b = fake_program(e, PROGRAM("nop"), true, NULL, 0);
    struct program *c = fake_program(e, PROGRAM("nop"), false, NULL, 0);

    CHECK(a && b && a != b);
    CHECK(c == b);
    program_put(a);
    program_put(b);
    program_put(c);
    engine_free(e);
}

static void
check_refused(const char *compiler, const char *wat, const char *reason)
{
    struct engine *e = engine_with(compiler);
    char why[200] = "";

    CHECK(!fake_program(e, wat, false, why, sizeof why));
    if (!strstr(why, reason))
        test_failed(__FILE__, __LINE__, why);
    engine_free(e);
}

TEST(the_reason_of_the_compiler_comes_back)
{
    static const char *const refused[][2] = {
        {"(memory (export \"memory\") i64 1)", "memory64"},
        {"(memory (export \"memory\") 1 2 shared)", "shared"},
        {MEMORY "(memory 1)", "multiple memories"},
        {MEMORY "(type (struct (field i32)))", "gc"},
        {MEMORY "(func (drop))", "type mismatch"},
    };

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char wat[300];
        snprintf(wat, sizeof wat, "(module %s (func (export \"_start\")))",
                 refused[i][0]);
        check_refused("/proc/self/exe", wat, refused[i][1]);
    }
}

TEST(without_a_compiler_guests_programs_are_refused)
{
    check_refused(NULL, PROGRAM(""), "no compiler is configured");
}

TEST(a_compiler_that_fails_is_told)
{
    check_refused("/bin/true", PROGRAM(""), "returned no code");
    check_refused("/bin/sh", PROGRAM(""), "the compiler failed");
    check_refused("/dev/null", PROGRAM(""), "cannot be started");
}

TEST(a_compiler_that_is_missing_is_an_error_of_the_engine)
{
    struct engine_options o = {.max_machines = 1, .compiler = "/nonexistent"};
    struct engine *e = NULL;
    char why[200] = "";

    CHECK_EQ(engine_new(&o, &e, why, sizeof why), -ENOENT);
    CHECK(!strcmp(why, "compiler /nonexistent"));
}

TEST(a_host_that_ignores_sigchld_is_told)
{
    void (*old)(int) = signal(SIGCHLD, SIG_IGN);

    check_refused("/proc/self/exe", PROGRAM(""), "SIGCHLD");
    (void)signal(SIGCHLD, old);
}

/* One load, not waiting. */
static int
begin(struct engine *e, const char *wat, bool is_trusted, struct program **ret)
{
    char why[200] = "";
    size_t len;
    uint8_t *wasm = fake_wasm(wat, &len);
    struct program_source src = {
        .bytes = wasm, .len = len, .name = "test", .is_trusted = is_trusted};

    int r = engine_ops()->load(e, &src, ret, why, sizeof why);
    free(wasm);
    return r;
}

TEST(putting_a_program_ends_its_compiling)
{
    struct engine *e = engine_with("/proc/self/exe");
    struct program *p = NULL;

    CHECK_EQ(begin(e, PROGRAM(""), false, &p), -EINPROGRESS);
    /* The process is there, even if it has already compiled and ended. */
    CHECK_EQ(kill(((struct compilation *)p)->pid, 0), 0);
    program_put(p);
    CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
    engine_free(e);
}

/* A program that takes the compiler a while. */
static const char *
slow_program(void)
{
    static char wat[1 << 20];
    char *to = wat + sprintf(wat, "(module " MEMORY "(func (export \"_start\")"
                                  " (local i32)");

    for (int i = 0; i < 10000; i++)
        to += sprintf(to, "(local.set 0 (i32.add (local.get 0)"
                          " (i32.load (local.get 0))))");
    strcpy(to, "))");
    return wat;
}

TEST(who_loads_the_same_waits_for_the_same_process)
{
    struct engine *e = engine_with("/proc/self/exe");
    struct program *a = NULL, *b = NULL, *c = NULL;

    CHECK_EQ(begin(e, slow_program(), false, &a), -EINPROGRESS);
    /* It must not end before it is asked for again. */
    CHECK_EQ(kill(((struct compilation *)a)->pid, SIGSTOP), 0);
    CHECK_EQ(begin(e, slow_program(), false, &b), -EINPROGRESS);
    CHECK_EQ(begin(e, PROGRAM("nop"), false, &c), -EINPROGRESS);
    CHECK(a == b);
    CHECK(a != c);
    CHECK_EQ(engine_ops()->cost_ns(a) < 0, 0);
    program_put(a);
    program_put(b);
    program_put(c);
    engine_free(e);
}

TEST(what_was_refused_is_not_compiled_again)
{
    static const char bad[] =
        "(module " MEMORY "(func (export \"_start\") drop))";
    struct engine *e = engine_with("/proc/self/exe");
    struct program *p = NULL;
    char why[200] = "";

    CHECK(!fake_program(e, bad, false, NULL, 0));
    CHECK_EQ(begin(e, bad, false, &p), -ENOEXEC);
    CHECK(!fake_program(e, bad, false, why, sizeof why));
    if (!strstr(why, "type mismatch"))
        test_failed(__FILE__, __LINE__, why);
    engine_free(e);
}

TEST(what_failed_for_another_reason_is_tried_again)
{
    struct engine *e = engine_with("/bin/sh");
    struct program *p = NULL;

    CHECK(!fake_program(e, PROGRAM(""), false, NULL, 0));
    CHECK_EQ(begin(e, PROGRAM(""), false, &p), -EINPROGRESS);
    program_put(p);
    engine_free(e);
}

TEST(trusted_programs_are_compiled_by_a_process_too)
{
    struct engine *e = engine_with("/proc/self/exe");
    struct program *p = NULL;
    struct fake f;

    CHECK_EQ(begin(e, PROGRAM(""), true, &p), -EINPROGRESS);
    program_put(p);
    p = fake_program(e, PROGRAM(""), true, NULL, 0);
    CHECK(p != NULL);
    if (p && !fake_init(&f, e, p)) {
        CHECK_EQ(fake_run(&f), MACHINE_ENDED);
        fake_fini(&f);
    }
    program_put(p);
    engine_free(e);
}

TEST(a_trusted_program_does_not_need_the_process)
{
    static const char *const bad[] = {"/bin/true", "/bin/sh", "/dev/null"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct engine *e = engine_with(bad[i]);
        struct program *p = fake_program(e, PROGRAM(""), true, NULL, 0);
        CHECK(p != NULL);
        program_put(p);
        engine_free(e);
    }
}
