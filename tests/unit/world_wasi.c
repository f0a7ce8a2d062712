/* WASI functions as the tasks of a world would call them. */
#include "world_wasi.h"
#include "kernel/wasi/wasi.h"

#include "kernel/wait.h"

int
world_wasi_args(struct task *t)
{
    static const char *const argv[] = {"program", "argument", NULL};
    static const char *const envp[] = {"NAME=value", NULL};

    return args_set(t, argv, envp, "/program");
}

/* As the engine passes them: i32 arguments have no upper half. */
static const char *const params[WASI_ROWS] = {
#define WASI(name, params, result, how) params,
#include "kernel/wasi/wasi.def"
#undef WASI
};

int32_t
world_wasi(struct task *t, unsigned row, const uint64_t args[WASI_ARGS_MAX])
{
    struct thread *th = t->thread;
    uint64_t raw[WASI_ARGS_MAX] = {0};

    for (size_t i = 0; params[row][i]; i++)
        raw[i] = params[row][i] == 'I' ? args[i] : (uint32_t)args[i];
    th->kernel->running = th;
    int32_t r = thread_wasi(th, row, raw);
    if (r == -EWAIT)
        (void)thread_must_wait(th);
    th->kernel->running = NULL;
    if (th->leaving)
        sched_bury(th);
    return r;
}
