/* exec: from a path to a program, with #! lines. */
#include "kernel/exec.h"

#include "world.h"

#include "host/native.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A kernel with /prog, which is a program. */
struct fixture {
    struct engine engine;
    struct kernel *k;
    struct task *t;
    char why[100];
};

static void
fixture_init(struct fixture *x)
{
    *x = (struct fixture){0};
    x->k = world_new_on(&x->engine);
    x->t = world_task(x->k);
    CHECK_EQ(world_file(x->k, "/prog", FAKE_PROGRAM), 0);
}

/* 0 or -errno. */
static int
prepare(struct fixture *x, const char *path, const char *const *argv)
{
    static const char *const envp[] = {"A=1", NULL};
    struct program *p = NULL;
    struct exec e = {.path = path,
                     .base = &x->t->cwd,
                     .argv = argv,
                     .envp = envp,
                     .why = x->why,
                     .why_size = sizeof x->why};

    x->why[0] = 0;
    int r = task_exec_prepare(x->t, &e, &p);
    if (r == 0)
        program_put(p);
    return r;
}

/* Executes "s one two"; its argv, joined by '|'. */
static const char *
argv_of(struct fixture *x, const char *path)
{
    static const char *const argv[] = {"s", "one", "two", NULL};
    static char joined[4096];
    char *to = joined;

    *to = 0;
    if (prepare(x, path, argv) < 0)
        return "error";
    const char *s = x->t->args.strings;
    for (uint32_t i = 0; i < x->t->args.argc; i++, s += strlen(s) + 1)
        to += sprintf(to, "%s%s", i ? "|" : "", s);
    return joined;
}

#define CHECK_ARGV(x, path, want)                  \
    do {                                           \
        const char *got_ = argv_of(x, path);       \
        if (strcmp(got_, want) != 0)               \
            test_failed(__FILE__, __LINE__, got_); \
    } while (0)

static const char *const no_args[] = {NULL};

TEST(exec_replaces_arguments_name_and_exe)
{
    struct fixture x;

    fixture_init(&x);
    CHECK_ARGV(&x, "/prog", "s|one|two");
    CHECK_EQ(x.t->args.envc, 1);
    CHECK(!strcmp(x.t->args.exe, "/prog"));
    CHECK(!strcmp(x.t->comm, "prog"));
    CHECK(!strcmp(x.t->exe_name, "prog"));
    CHECK_EQ(prepare(&x, "/prog", no_args), 0);
    CHECK_EQ(x.t->args.argc, 1);
    CHECK_EQ(x.t->args.strings[0], 0);
    kernel_free(x.k);
}

TEST(exec_script_runs_its_interpreter)
{
    struct fixture x;

    fixture_init(&x);
    CHECK_EQ(world_file(x.k, "/plain", "#!/prog\nrest"), 0);
    CHECK_EQ(world_file(x.k, "/arg", "#! \t/prog  -a b \t\n"), 0);
    CHECK_EQ(world_file(x.k, "/end", "#!/prog"), 0);
    CHECK_EQ(world_file(x.k, "/two", "#!/arg x\n"), 0);
    CHECK_ARGV(&x, "/plain", "/prog|/plain|one|two");
    CHECK_ARGV(&x, "/arg", "/prog|-a b|/arg|one|two");
    CHECK_ARGV(&x, "/end", "/prog|/end|one|two");
    CHECK_ARGV(&x, "/two", "/prog|-a b|/arg|x|/two|one|two");
    CHECK(!strcmp(x.t->comm, "two"));
    CHECK(!strcmp(x.t->exe_name, "prog"));
    kernel_free(x.k);
}

TEST(exec_script_with_no_arguments_gets_its_path)
{
    struct fixture x;

    fixture_init(&x);
    CHECK_EQ(world_file(x.k, "/s", "#!/prog\n"), 0);
    CHECK_EQ(prepare(&x, "/s", no_args), 0);
    CHECK_EQ(x.t->args.argc, 2);
    kernel_free(x.k);
}

TEST(exec_scripts_nest_five_deep)
{
    struct fixture x;

    fixture_init(&x);
    for (int i = 1; i <= 6; i++) {
        char path[8], text[16];
        snprintf(path, sizeof path, "/s%d", i);
        snprintf(text, sizeof text, "#!/s%d\n", i - 1);
        CHECK_EQ(world_file(x.k, path, i == 1 ? "#!/prog\n" : text), 0);
    }
    CHECK_EQ(prepare(&x, "/s5", no_args), 0);
    CHECK_EQ(prepare(&x, "/s6", no_args), -ELOOP);
    CHECK_EQ(world_file(x.k, "/self", "#!/self\n"), 0);
    CHECK_EQ(prepare(&x, "/self", no_args), -ELOOP);
    kernel_free(x.k);
}

TEST(exec_long_first_lines)
{
    struct fixture x;
    char line[600];

    fixture_init(&x);
    snprintf(line, sizeof line, "#!/prog %0500d\n", 7);
    CHECK_EQ(world_file(x.k, "/long", line), 0);
    CHECK_EQ(prepare(&x, "/long", no_args), 0);
    snprintf(line, sizeof line, "#!/%0500d\n", 7);
    CHECK_EQ(world_file(x.k, "/cut", line), 0);
    CHECK_EQ(prepare(&x, "/cut", no_args), -ENOEXEC);
    CHECK_EQ(world_file(x.k, "/none", "#!  \n"), 0);
    CHECK_EQ(prepare(&x, "/none", no_args), -ENOEXEC);
    CHECK_EQ(world_file(x.k, "/missing", "#!/gone\n"), 0);
    CHECK_EQ(prepare(&x, "/missing", no_args), -ENOENT);
    kernel_free(x.k);
}

TEST(exec_refuses_what_is_no_program)
{
    struct fixture x;
    char path[PATH_BYTES_MAX + 1];

    fixture_init(&x);
    CHECK_EQ(world_file(x.k, "/text", "text"), 0);
    CHECK_EQ(world_file(x.k, "/empty", ""), 0);
    CHECK_EQ(world_make(x.k, NULL, "/dir", S_IFDIR | 0755), 0);
    CHECK_EQ(world_make(x.k, NULL, "/plain", S_IFREG | 0644), 0);
    CHECK_EQ(prepare(&x, "/text", no_args), -ENOEXEC);
    CHECK(!strcmp(x.why, "/text: not a program"));
    CHECK_EQ(prepare(&x, "/empty", no_args), -ENOEXEC);
    CHECK_EQ(prepare(&x, "/dir", no_args), -EACCES);
    CHECK_EQ(prepare(&x, "/plain", no_args), -EACCES);
    CHECK_EQ(prepare(&x, "/gone", no_args), -ENOENT);
    CHECK_EQ(prepare(&x, "/prog/x", no_args), -ENOTDIR);
    CHECK_EQ(prepare(&x, "", no_args), -ENOENT);
    memset(path, '/', PATH_BYTES_MAX);
    path[PATH_BYTES_MAX] = 0;
    CHECK_EQ(prepare(&x, path, no_args), -ENAMETOOLONG);
    CHECK(!x.t->args.strings);
    kernel_free(x.k);
}

TEST(exec_loads_an_unchanged_file_once)
{
    struct fixture x;

    fixture_init(&x);
    CHECK_EQ(prepare(&x, "/prog", no_args), 0);
    CHECK_EQ(prepare(&x, "/prog", no_args), 0);
    CHECK_EQ(x.engine.loads, 1);
    CHECK_EQ(world_file(x.k, "/prog", FAKE_PROGRAM "2"), 0);
    CHECK_EQ(prepare(&x, "/prog", no_args), 0);
    CHECK_EQ(x.engine.loads, 2);
    kernel_free(x.k);
}

TEST(exec_arguments_have_a_limit)
{
    enum { TOO_LONG = 128 << 10, N = 40 };
    struct fixture x;
    char *word = malloc(TOO_LONG + 1);
    const char *argv[N + 1] = {word};

    fixture_init(&x);
    memset(word, 'a', TOO_LONG);
    word[TOO_LONG] = 0;
    CHECK_EQ(prepare(&x, "/prog", argv), -E2BIG);
    word[TOO_LONG - 1] = 0;
    CHECK_EQ(prepare(&x, "/prog", argv), 0);
    for (int i = 0; i < N; i++)
        argv[i] = word;
    CHECK_EQ(prepare(&x, "/prog", argv), -E2BIG);
    argv[15] = NULL;
    CHECK_EQ(prepare(&x, "/prog", argv), 0);
    argv[15] = argv[14];
    argv[16] = NULL; /* 2 MiB, and the pointers */
    CHECK_EQ(prepare(&x, "/prog", argv), -E2BIG);
    free(word);
    kernel_free(x.k);
}

TEST(exec_arguments_are_memory_of_the_sandbox)
{
    enum { BYTES = 100 << 10 };
    struct fixture x;
    char *word = malloc(BYTES);
    const char *argv[] = {word, word, NULL};

    fixture_init(&x);
    memset(word, 'a', BYTES - 1);
    word[BYTES - 1] = 0;
    uint64_t before = x.k->limits.used[LIMIT_memory];
    CHECK_EQ(prepare(&x, "/prog", argv), 0);
    CHECK(x.t->args.len > 2 * BYTES);
    CHECK_EQ(x.k->limits.used[LIMIT_memory] - before, x.t->args.len);
    x.k->limits.max[LIMIT_memory] = x.k->limits.used[LIMIT_memory] + BYTES;
    CHECK_EQ(prepare(&x, "/prog", argv), -ENOMEM);
    CHECK(x.k->limits.was_hit[LIMIT_memory]);
    CHECK_EQ(prepare(&x, "/prog", no_args), 0);
    CHECK_EQ(x.k->limits.used[LIMIT_memory] - before, x.t->args.len);
    free(word);
    kernel_free(x.k);
}

TEST(exec_survives_failing_allocations)
{
    EACH_OOM(oom) {
        struct fixture x;
        test_fail_alloc(0);
        fixture_init(&x);
        CHECK_EQ(world_file(x.k, "/s", "#!/prog\n"), 0);
        test_fail_alloc(oom);
        int r = prepare(&x, "/s", no_args);
        bool failed = test_alloc_failed();
        CHECK(r == 0 || (failed && r == -ENOMEM));
        CHECK_EQ(x.t->args.strings != NULL, r == 0);
        kernel_free(x.k);
        if (!failed)
            break;
    }
}

/* --- execve(2) */

enum { PATH = 256, ARGV = 512, TEXT = 1024 };

static int32_t
execve_guest(struct task *t, const char *path)
{
    const gaddr argv[3] = {TEXT, TEXT, 0};

    world_str(t, PATH, path);
    world_str(t, TEXT, "word");
    memcpy(world_at(t, ARGV), argv, sizeof argv);
    return SYS(t, NR_execve, PATH, ARGV, 0);
}

/* --- programs that are being compiled */

static void
slow_init(struct fixture *x)
{
    *x = (struct fixture){0};
    x->k = world_new_live(&x->engine);
    x->t = world_task(x->k);
    CHECK_EQ(world_file(x->k, "/prog", FAKE_PROGRAM), 0);
    x->engine.compile_hfd = eventfd(0, EFD_CLOEXEC);
    x->engine.compile_ns = 5 * NS_PER_MS;
}

static void
slow_end(struct fixture *x)
{
    CHECK_EQ(eventfd_write(x->engine.compile_hfd, 1), 0);
}

static void
slow_fini(struct fixture *x)
{
    kernel_free(x->k);
    CHECK_EQ(x->engine.compilings, 0);
    close(x->engine.compile_hfd);
}

static bool
is_woken(void *t)
{
    return world_is_woken(t);
}

TEST(exec_waits_for_its_program_to_be_compiled)
{
    struct fixture x;

    slow_init(&x);
    CHECK_EQ(execve_guest(x.t, "/prog"), -EWAIT);
    CHECK_EQ(execve_guest(x.t, "/prog"), -EWAIT);
    CHECK_EQ(x.engine.compilings, 1);
    CHECK_EQ(kernel_run(x.k, is_woken, x.t, 1), -ETIMEDOUT);
    slow_end(&x);
    CHECK_EQ(kernel_run(x.k, is_woken, x.t, NS_NEVER), 0);
    CHECK_EQ(execve_guest(x.t, "/prog"), 0);
    CHECK_EQ(x.t->thread->leaving, LEAVE_EXEC);
    CHECK_EQ(x.engine.compilings, 0);
    slow_fini(&x);
}

TEST(compiling_counts_as_time_of_the_process)
{
    struct fixture x;

    slow_init(&x);
    CHECK_EQ(execve_guest(x.t, "/prog"), -EWAIT);
    int64_t before = x.k->cpu_ns;
    slow_end(&x);
    CHECK_EQ(execve_guest(x.t, "/prog"), 0);
    CHECK_EQ(x.k->cpu_ns - before, x.engine.compile_ns);
    CHECK_EQ(x.t->usage.cpu_ns, x.engine.compile_ns);
    slow_fini(&x);
}

TEST(a_handler_does_not_interrupt_exec)
{
    struct fixture x;

    slow_init(&x);
    x.t->sig.action[SIGUSR1].handler = 100;
    CHECK_EQ(execve_guest(x.t, "/prog"), -EWAIT);
    struct siginfo_k si = {.signo = SIGUSR1};
    CHECK_EQ(signal_send(x.t, &si), 0);
    CHECK_EQ(execve_guest(x.t, "/prog"), -EWAIT);
    CHECK_EQ(x.engine.compilings, 1);
    slow_fini(&x);
}

TEST(a_process_killed_in_exec_ends_the_compiling)
{
    struct fixture x;

    slow_init(&x);
    CHECK_EQ(execve_guest(x.t, "/prog"), -EWAIT);
    struct siginfo_k si = {.signo = SIGKILL};
    CHECK_EQ(signal_send(x.t, &si), 0);
    world_run(x.k);
    CHECK_EQ(x.engine.compilings, 0);
    CHECK_EQ(x.k->cpu_ns, x.engine.compile_ns);
    slow_fini(&x);
}

TEST(an_exec_of_another_file_ends_the_compiling_of_the_first)
{
    struct fixture x;

    slow_init(&x);
    CHECK_EQ(execve_guest(x.t, "/prog"), -EWAIT);
    CHECK_EQ(execve_guest(x.t, "/gone"), -ENOENT);
    CHECK_EQ(x.engine.compilings, 0);
    slow_fini(&x);
}

TEST(a_spawn_from_the_host_tells_what_is_being_compiled)
{
    struct fixture x;
    struct spawn s = {.path = "/prog", .argv = no_args, .envp = no_args};

    slow_init(&x);
    CHECK_EQ(kernel_spawn(x.k, &s, x.why, sizeof x.why), -EINPROGRESS);
    CHECK_EQ(s.program->hfd, x.engine.compile_hfd);
    CHECK_EQ(program_await(&host_native, s.program, -1, 1), -ETIMEDOUT);
    slow_end(&x);
    CHECK_EQ(program_await(&host_native, s.program, -1, 0), 0);
    program_put(s.program);
    CHECK(kernel_spawn(x.k, &s, x.why, sizeof x.why) > 0);
    slow_fini(&x);
}

TEST(exec_call_leaves_the_old_program)
{
    struct fixture x;

    fixture_init(&x);
    x.t->sig.action[SIGUSR1].handler = 100;
    CHECK_EQ(SYS(x.t, NR_pipe2, TEXT, O_CLOEXEC), 0);
    CHECK_EQ(execve_guest(x.t, "/gone"), -ENOENT);
    CHECK(fd_find(x.t, 0));
    CHECK_EQ(execve_guest(x.t, "/prog"), 0);
    CHECK_EQ(x.t->thread->leaving, LEAVE_EXEC);
    CHECK(x.t->next_program && x.t->did_exec);
    CHECK(!fd_find(x.t, 0));
    CHECK_EQ(x.t->sig.action[SIGUSR1].handler, GUEST_SIG_DFL);
    CHECK_EQ(x.t->args.argc, 2);
    kernel_free(x.k);
}

TEST(exec_call_leaves_no_handler_for_a_pending_signal)
{
    struct siginfo_k si = {.signo = SIGINT};
    struct fixture x;

    fixture_init(&x);
    x.t->sig.action[SIGINT].handler = 100;
    CHECK_EQ(signal_send(x.t, &si), 0);
    CHECK(!x.t->is_zombie);
    CHECK_EQ(execve_guest(x.t, "/prog"), 0);
    CHECK(x.t->is_zombie);
    CHECK_EQ(x.t->exit_status, SIGINT);
    kernel_free(x.k);
}

TEST(exec_call_of_a_vfork_child_starts_a_thread_of_its_own)
{
    struct fixture x;

    fixture_init(&x);
    int32_t pid = SYS(x.t, NR_vfork);
    struct task *c = task_find(x.k, pid);
    CHECK_EQ(execve_guest(c, "/prog"), 0);
    CHECK(x.t->thread->task == x.t);
    CHECK(c->thread && c->thread != x.t->thread);
    CHECK(!list_is_empty(&c->thread->run_link));
    CHECK_EQ(fake_of(c->thread)->slices, 0);
    kernel_free(x.k);
}

TEST(exec_call_survives_failing_allocations)
{
    EACH_OOM(oom) {
        struct fixture x;
        test_fail_alloc(0);
        fixture_init(&x);
        struct task *c = task_find(x.k, SYS(x.t, NR_vfork));
        test_fail_alloc(oom);
        int32_t r = execve_guest(c, "/prog");
        bool failed = test_alloc_failed();
        CHECK(r == 0 || (failed && r == -ENOMEM));
        CHECK_EQ(x.t->thread->task == x.t, r == 0);
        CHECK(failed == (r < 0 || c->is_zombie));
        kernel_free(x.k);
        if (!failed)
            break;
    }
}

TEST(exec_call_checks_guest_memory)
{
    struct fixture x;
    const gaddr bad[2] = {FAKE_MEMORY_BYTES, 0};

    fixture_init(&x);
    world_str(x.t, PATH, "/prog");
    CHECK_EQ(SYS(x.t, NR_execve, FAKE_MEMORY_BYTES, 0, 0), -EFAULT);
    CHECK_EQ(SYS(x.t, NR_execve, PATH, FAKE_MEMORY_BYTES, 0), -EFAULT);
    memcpy(world_at(x.t, ARGV), bad, sizeof bad);
    CHECK_EQ(SYS(x.t, NR_execve, PATH, ARGV, 0), -EFAULT);
    CHECK_EQ(SYS(x.t, NR_execve, PATH, 0, ARGV), -EFAULT);
    memset(world_at(x.t, FAKE_MEMORY_BYTES - 16), 1, 16);
    CHECK_EQ(SYS(x.t, NR_execve, PATH, FAKE_MEMORY_BYTES - 16, 0), -EFAULT);
    kernel_free(x.k);
}
