/* Programs that are not trusted, compiled by processes: this program is their
 * executable too. */
#include "fake_kernel.h"

#include "../unit/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <wasmtime.h>

/* Before main, which would run the tests. */
__attribute__((constructor)) static void
become_compiler(int argc, char **argv)
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
        {"(memory (export \"memory\") 1 2 shared)", "threads"},
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
    check_refused(NULL, PROGRAM(""), "there is no compiler");
}

TEST(a_compiler_that_fails_is_told)
{
    check_refused("/bin/true", PROGRAM(""), "gave no code");
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

TEST(the_deadline_ends_the_compiler)
{
    struct engine *e = engine_with("/proc/self/exe");
    wasm_byte_vec_t wasm;
    struct program *p = NULL;
    struct timespec ts;
    char why[200] = "";

    CHECK(!wasmtime_wat2wasm(PROGRAM(""), strlen(PROGRAM("")), &wasm));
    clock_gettime(CLOCK_MONOTONIC, &ts);
    struct program_source src = {.bytes = (const uint8_t *)wasm.data,
                                 .len = wasm.size,
                                 .name = "test",
                                 .deadline_ns =
                                     ts.tv_sec * INT64_C(1000000000)};
    CHECK_EQ(engine_ops()->load(e, &src, &p, why, sizeof why), -EINTR);
    wasm_byte_vec_delete(&wasm);
    engine_free(e);
}
