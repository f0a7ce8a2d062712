/* args: one "two words" */
/* options: --env KEY=value */
/* Arguments, environment, clocks, random bytes, yielding, raising. */
#include "raw.h"

static uint32_t array[64];
static char text[4096];
static uint32_t count, bytes;

static void
test_args(void)
{
    OK(args_sizes_get(P(&count), P(&bytes)));
    CHECK(count == 3);
    OK(args_get(P(array), P(text)));
    CHECK(!strcmp((char *)array[1], "one"));
    CHECK(!strcmp((char *)array[2], "two words"));
    CHECK(array[0] == P(text));
    CHECK(array[2] + strlen("two words") + 1 == P(text) + bytes);
    IS(args_sizes_get(BAD, P(&bytes)), FAULT);
    IS(args_sizes_get(P(&count), BAD), FAULT);
    IS(args_get(BAD, P(text)), FAULT);
    IS(args_get(P(array), BAD), FAULT);
}

static void
test_environ(void)
{
    int found = 0;

    OK(environ_sizes_get(P(&count), P(&bytes)));
    CHECK(count >= 1 && count < 64 && bytes < sizeof text);
    OK(environ_get(P(array), P(text)));
    for (uint32_t i = 0; i < count; i++)
        found += !strcmp((char *)array[i], "KEY=value");
    CHECK(found == 1);
    IS(environ_sizes_get(BAD, P(&bytes)), FAULT);
    IS(environ_get(P(array), BAD), FAULT);
}

static void
test_clocks(void)
{
    uint64_t a = 0, b = 0;

    for (uint32_t id = 0; id < 4; id++) {
        OK(clock_res_get(id, P(&a)));
        CHECK(a >= 1 && a <= 1000000000);
        OK(clock_time_get(id, 0, P(&a)));
        OK(clock_time_get(id, 1, P(&b)));
        CHECK(b >= a);
        IS(clock_time_get(id, 0, BAD), FAULT);
        IS(clock_res_get(id, BAD), FAULT);
    }
    OK(clock_time_get(0, 0, P(&a)));
    CHECK(a > 1600000000ull * 1000000000);
    IS(clock_time_get(4, 0, P(&a)), INVAL);
    IS(clock_res_get(99, P(&a)), INVAL);
}

static void
test_random(void)
{
    static uint8_t large[3 << 20];
    uint64_t v[4] = {0};
    uint32_t zeros = 0;

    OK(random_get(P(v), sizeof v));
    CHECK(v[0] && v[1] && v[2] && v[3] && v[0] != v[1]);
    OK(random_get(P(large), sizeof large));
    for (uint32_t i = 0; i < sizeof large; i++)
        zeros += !large[i];
    CHECK(zeros > sizeof large / 512 && zeros < sizeof large / 128);
    OK(random_get(P(v), 0));
    IS(random_get(BAD, 64), FAULT);
    IS(random_get(0, 0xffffffff), FAULT);
}

int
main(void)
{
    test_args();
    test_environ();
    test_clocks();
    test_random();
    for (int i = 0; i < 3; i++)
        OK(sched_yield());
    OK(proc_raise(0));
    OK(proc_raise(16)); /* SIGCHLD, ignored */
    OK(proc_raise(27)); /* SIGWINCH, ignored */
    IS(proc_raise(31), INVAL);
    IS(proc_raise(255), INVAL);
    fflush(stdout);
    proc_exit(failures ? 1 : 0);
}
