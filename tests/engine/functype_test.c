/* sys.functype: the types of functions in a program's table. */
#include "fake_kernel.h"

#include "../unit/test.h"
#include "engine/engine_impl.h"

#define TYPE_IMPORT \
    "(import \"sys\" \"functype\" (func $type (param i32) (result i32)))"
#define LOG_TYPE(index) CALL1(2, "(call $type (i32.const " index "))")

/* A module with `table`, whose _start runs `code`. */
#define MODULE(table, code)                                              \
    "(module " SYS_IMPORTS TYPE_IMPORT MEMORY table                      \
    "(func $a) (func $b (param i32)) (func $c (result i32) i32.const 0)" \
    "(func $d (param i32 i32 i32) (result i32) i32.const 0)"             \
    "(func $e (param i64)) (func $f (result f32) f32.const 0)"           \
    "(func $g (param externref))"                                        \
    "(func (export \"_start\")" code "))"

static void
check_types(const char *module, const int32_t *types, size_t n)
{
    struct engine *e = fake_engine(4, NULL);
    struct fake f;

    fake_open(&f, e, module);
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(f.n_log, n);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(f.log[i], types[i]);
    fake_fini(&f);
    engine_free(e);
}

TEST(functype_counts_parameters_and_results)
{
    const int32_t types[] = {0, 1, 8, 11, -1, -1, -1, -1, -1};

    check_types(
        MODULE("(table (export \"__indirect_function_table\") 8 funcref)"
               "(elem (i32.const 0) $a $b $c $d $e $f $g)",
               LOG_TYPE("0") LOG_TYPE("1") LOG_TYPE("2") LOG_TYPE("3")
                   LOG_TYPE("4") LOG_TYPE("5") LOG_TYPE("6") LOG_TYPE("7")
                       LOG_TYPE("-1")),
        types, 9);
}

TEST(functype_needs_a_table_of_functions)
{
    const int32_t types[] = {-1};

    check_types(MODULE("", LOG_TYPE("0")), types, 1);
    check_types(MODULE("(table (export \"__indirect_function_table\")"
                       " 1 externref)",
                       LOG_TYPE("0")),
                types, 1);
    check_types(MODULE("(table (export \"__indirect_function_table\")"
                       " 1 exnref)",
                       LOG_TYPE("0")),
                types, 1);
    check_types(MODULE("(global (export \"__indirect_function_table\") i32"
                       " (i32.const 0))",
                       LOG_TYPE("0")),
                types, 1);
}
