#include "fake_kernel.h"

#include "../unit/test.h"
#include "kernel/wait.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FUNCTION(name, type) \
    "(import \"wasi_snapshot_preview1\" \"" name "\" (func $f " type "))"
#define LOG_IMPORT                                                             \
    "(import \"sys\" \"call\" (func $call (param i32 i32 i32 i32 i32 i32 i32)" \
    " (result i32)))"
#define LOGS(name, type, args)                        \
    "(module " FUNCTION(name, type) LOG_IMPORT MEMORY \
        "(func (export \"_start\")" CALL1(2, "(call $f " args ")") "))"

enum {
#define WASI(name, params, result, how) ROW_##name,
#include "kernel/wasi/wasi.def"
#undef WASI
    ROWS
};

static const struct {
    const char *name, *params;
    char result;
} rows[] = {
#define WASI(name, params, result, how) {#name, params, result},
#include "kernel/wasi/wasi.def"
#undef WASI
};

TEST(all_functions_of_wasi_can_be_imported)
{
    struct engine *e = fake_engine(1, NULL);

    CHECK_EQ(ROWS, 46);
    for (int i = 0; i < ROWS; i++) {
        char wat[600], params[200] = "", why[200] = "";
        for (const char *c = rows[i].params; *c; c++)
            strcat(params, *c == 'I' ? " i64" : " i32");
        snprintf(wat, sizeof wat,
                 "(module (import \"wasi_snapshot_preview1\" \"%s\" (func"
                 " (param%s) %s)) " MEMORY "(func (export \"_start\")))",
                 rows[i].name, params, rows[i].result ? "(result i32)" : "");
        struct program *p = fake_program(e, wat, false, why, sizeof why);
        if (!p)
            test_failed(__FILE__, __LINE__, why);
        program_put(p);
    }
    engine_free(e);
}

TEST(plain_functions_pass_arguments_and_result)
{
    struct engine *e = fake_engine(1, NULL);
    struct fake f;

    fake_open(
        &f, e,
        LOGS("fd_seek", "(param i32 i64 i32 i32) (result i32)",
             "(i32.const -1) (i64.const -2) (i32.const 3) (i32.const 4)"));
    f.wasi_result = 29;
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(f.wasi_row, ROW_fd_seek);
    CHECK_EQ(f.wasi_args[0], 0xffffffff);
    CHECK_EQ(f.wasi_args[1], -2);
    CHECK_EQ(f.wasi_args[2], 3);
    CHECK_EQ(f.wasi_args[3], 4);
    CHECK_EQ(f.log[0], 29);
    fake_fini(&f);
    engine_free(e);
}

#define PREAD                                                        \
    LOGS("fd_pread", "(param i32 i32 i32 i64 i32) (result i32)",     \
         "(i32.const -1) (i32.const 2) (i32.const 3) (i64.const -4)" \
         " (i32.const 5)")

TEST(suspending_functions_try_again_when_woken)
{
    struct engine *e = fake_engine(1, NULL);
    struct fake f;

    fake_open(&f, e, PREAD);
    f.wasi_result = -EWAIT;
    CHECK_EQ(fake_run(&f), MACHINE_WAITS);
    CHECK_EQ(fake_run(&f), MACHINE_WAITS);
    f.must_wait = false; /* woken, and has to wait once more */
    CHECK_EQ(fake_run(&f), MACHINE_WAITS);
    f.must_wait = false;
    f.wasi_result = 6;
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(f.wasi_args[0], 0xffffffff);
    CHECK_EQ(f.wasi_args[3], -4);
    CHECK_EQ(f.wasi_args[4], 5);
    CHECK_EQ(f.log[0], 6);
    fake_fini(&f);
    engine_free(e);
}

TEST(suspending_functions_that_need_not_wait_do_not)
{
    struct engine *e = fake_engine(1, NULL);
    struct fake f;

    fake_open(&f, e, PREAD);
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(f.waits, 0);
    fake_fini(&f);
    engine_free(e);
}

TEST(a_process_can_leave_from_any_function)
{
    static const char *const programs[] = {
        PREAD,
        LOGS("fd_close", "(param i32) (result i32)", "(i32.const 1)"),
        "(module " FUNCTION("proc_exit", "(param i32)") MEMORY
        "(func (export \"_start\") (call $f (i32.const 3)) unreachable))",
    };
    struct engine *e = fake_engine(1, NULL);

    for (size_t i = 0; i < 3; i++) {
        struct fake f;
        fake_open(&f, e, programs[i]);
        f.wasi_result = -EPIPE;
        CHECK_EQ(fake_run(&f), MACHINE_LEFT);
        CHECK_EQ(f.n_log, 0);
        fake_fini(&f);
    }
    engine_free(e);
}

TEST(a_process_can_be_killed_in_a_function)
{
    struct engine *e = fake_engine(1, NULL);
    struct fake f;

    fake_open(&f, e, PREAD);
    f.wasi_result = -EWAIT;
    CHECK_EQ(fake_run(&f), MACHINE_WAITS);
    fake_fini(&f);
    CHECK_EQ(engine_machines(e), 0);
    engine_free(e);
}
