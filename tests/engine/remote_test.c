/* An engine that was closed, and the process that compiles for it: this program
 * is its executable too. */
#include "fake_kernel.h"

#include "engine/compiler_remote.h"
#include "engine/engine_impl.h"

#include "../unit/test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* No more than a filter of a user who is not root needs. */
static int
seal_little(const char **ret_where)
{
    *ret_where = "no new privileges";
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

/* Before main, which would run the tests. */
__attribute__((constructor)) static void
compiler_serve_become(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "compilers"))
        compilers_main(seal_little);
}

static struct engine *
closed_engine(void)
{
    struct engine_options o = {.max_machines = 2,
                               .compiler = "/proc/self/exe",
                               .keeps_compiler = true};
    struct engine *e = NULL;
    char why[200] = "";

    if (engine_new(&o, &e, why, sizeof why) < 0 || engine_close(e) < 0) {
        fprintf(stderr, "no engine: %s\n", why);
        exit(2);
    }
    return e;
}

static int
begin(struct engine *e, const char *wat, struct program **ret)
{
    char why[200] = "";
    size_t len;
    uint8_t *wasm = fake_wasm(wat, &len);
    struct program_source src = {.bytes = wasm, .len = len, .name = "test"};

    int r = engine_ops()->load(e, &src, ret, why, sizeof why);
    free(wasm);
    return r;
}

static bool
is_ready(const struct program *p, int timeout_ms)
{
    struct pollfd fd = {.fd = p->hfd, .events = POLLIN};

    return poll(&fd, 1, timeout_ms) == 1;
}

static struct program *
number(struct engine *e, int n)
{
    char wat[300], why[200] = "";

    snprintf(wat, sizeof wat, PROGRAM("(drop (i32.const %d))"), n);
    struct program *p = fake_program(e, wat, false, why, sizeof why);
    if (!p)
        test_failed(__FILE__, __LINE__, why);
    return p;
}

TEST(a_closed_engine_runs_what_its_compiler_made)
{
    struct engine *e = closed_engine();
    struct program *p = number(e, 7);
    struct fake f;

    CHECK(e->code_bytes > 0);
    if (p && !fake_init(&f, e, p)) {
        CHECK_EQ(fake_run(&f), MACHINE_ENDED);
        fake_fini(&f);
    }
    program_put(p);
    engine_free(e);
    CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(a_closed_engine_has_the_data_of_a_program)
{
    struct engine *e = closed_engine();
    struct fake f;

    fake_open(&f, e,
              "(module " SYS_IMPORTS MEMORY "(data (i32.const 5000) \"ab\")"
              "(func (export \"_start\")" CALL1(
                  2, "(i32.load16_u (i32.const 5000))") "))");
    CHECK_EQ(fake_run(&f), MACHINE_ENDED);
    CHECK_EQ(f.log[0], 'a' | 'b' << 8);
    fake_fini(&f);
    engine_free(e);
}

TEST(a_closed_engine_does_not_compile_trusted_programs)
{
    struct engine *e = closed_engine();
    char why[200] = "";

    CHECK(!fake_program(e, PROGRAM("nop"), true, why, sizeof why));
    CHECK(strstr(why, "only programs of the root image"));
    engine_free(e);
}

TEST(the_reason_of_a_remote_compiler_comes_back)
{
    static const char bad[] =
        "(module " MEMORY "(func (export \"_start\") drop))";
    struct engine *e = closed_engine();
    struct program *p = NULL;
    char why[200] = "";

    CHECK(!fake_program(e, bad, false, why, sizeof why));
    CHECK(strstr(why, "type mismatch"));
    CHECK_EQ(begin(e, bad, &p), -ENOEXEC);
    engine_free(e);
}

TEST(who_waits_for_the_same_finds_it_ready)
{
    struct engine *e = closed_engine();
    struct program *a = NULL, *b = NULL, *c = NULL;

    CHECK_EQ(begin(e, PROGRAM("nop"), &a), -EINPROGRESS);
    CHECK_EQ(begin(e, PROGRAM("nop"), &b), -EINPROGRESS);
    CHECK(a == b);
    CHECK(is_ready(a, -1));
    CHECK_EQ(begin(e, PROGRAM("nop"), &c), 0);
    CHECK(is_ready(b, 0));
    CHECK(engine_ops()->cost_ns(a) > 0);
    program_put(a);
    program_put(b);
    program_put(c);
    engine_free(e);
}

TEST(slots_are_used_again)
{
    struct engine *e = closed_engine();

    for (int i = 0; i < 3 * REMOTE_SLOTS; i++)
        program_put(number(e, i));
    engine_free(e);
}

TEST(too_many_at_a_time_are_told_to_come_again)
{
    struct engine *e = closed_engine();
    struct program *p[REMOTE_SLOTS + 1] = {NULL};
    char wat[300];

    for (int i = 0; i <= REMOTE_SLOTS; i++) {
        snprintf(wat, sizeof wat, PROGRAM("(drop (i32.const %d))"), i);
        CHECK_EQ(begin(e, wat, &p[i]),
                 i < REMOTE_SLOTS ? -EINPROGRESS : -EAGAIN);
    }
    for (int i = 0; i < REMOTE_SLOTS; i++) {
        CHECK(is_ready(p[i], -1));
        program_put(p[i]);
    }
    program_put(number(e, REMOTE_SLOTS));
    engine_free(e);
}

TEST(what_nobody_wants_makes_room_for_others)
{
    struct engine *e = closed_engine();
    struct program *p = NULL;
    char wat[300];

    for (int i = 0; i < REMOTE_SLOTS; i++) {
        snprintf(wat, sizeof wat, PROGRAM("(drop (i32.const %d))"), i);
        CHECK_EQ(begin(e, wat, &p), -EINPROGRESS);
        program_put(p);
    }
    int r;
    do /* until the answer for one of these was given */
        r = begin(e, PROGRAM("nop"), &p);
    while (r == -EAGAIN);
    CHECK_EQ(r, -EINPROGRESS);
    program_put(p);
    engine_free(e);
}

/* It may have so many more than those before the first that it can open. */
static void
allow_files(pid_t pid, int first, int n)
{
    struct rlimit limit;

    CHECK_EQ(prlimit(pid, RLIMIT_NOFILE, NULL, &limit), 0);
    limit.rlim_cur = (rlim_t)(first + n);
    CHECK_EQ(prlimit(pid, RLIMIT_NOFILE, &limit, NULL), 0);
}

static int
first_free_file(pid_t pid)
{
    char path[64];

    for (int i = 0;; i++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, i);
        struct stat st;
        if (lstat(path, &st) < 0)
            return i;
    }
}

TEST(what_a_remote_compiler_cannot_start_leaves_nothing)
{
    struct engine *e = closed_engine();
    char why[200] = "";
    int first = first_free_file(e->remote.pid);

    /* There must be two: for the code, and for the end of the process. */
    for (int n = 1; n >= 0; n--) {
        allow_files(e->remote.pid, first, n);
        CHECK(!fake_program(e, PROGRAM("nop"), false, why, sizeof why));
        CHECK(!strcmp(why, "the compiler: Too many open files"));
    }
    allow_files(e->remote.pid, first, 2);
    program_put(number(e, 1));
    engine_free(e);
}

TEST(a_remote_compiler_that_dies_is_told)
{
    struct engine *e = closed_engine();
    char why[200] = "";

    CHECK_EQ(kill(e->remote.pid, SIGKILL), 0);
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i <= REMOTE_SLOTS; i++) {
        CHECK(!fake_program(e, PROGRAM("nop"), false, why, sizeof why));
        CHECK(!strcmp(why, "the compiler has ended"));
    }
    (void)signal(SIGPIPE, old);
    engine_free(e);
}

TEST(an_engine_without_its_compiler_does_not_close)
{
    struct engine_options o = {
        .max_machines = 1, .compiler = "/bin/true", .keeps_compiler = true};
    struct engine *e = NULL;
    char why[200] = "";

    CHECK_EQ(engine_new(&o, &e, why, sizeof why), 0);
    CHECK_EQ(engine_close(e), -EIO);
    engine_free(e);
}
