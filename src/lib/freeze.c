/* wsand_freeze: turns a program that yields in sys.next into a module that
 * starts there. Used to build root images.
 *
 * The program runs its initialisation in an ordinary sandbox. When it yields,
 * the engine writes its memory as the data of a new module; the state of the
 * task goes with it. */
#include "base/hfd.h"
#include "engine/engine.h"
#include "host/native.h"
#include "kernel/kernel.h"
#include "kernel/resident.h"
#include "kernel/shm.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/sized.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static bool
freeze_is_over(void *arg)
{
    struct resident *r = arg;

    return r->is_parked || r->task->is_zombie;
}

/* Reads the program's file as the program itself would. */
static int
freeze_read_program(struct task *t, uint8_t **ret, size_t *ret_len)
{
    struct fs *fs = t->exe.mnt->fs;
    struct attr a = {0};
    struct file *f;
    uint64_t pos = 0;
    int64_t n = 1;

    int r = vnode_getattr(&t->exe, &a);
    if (r == 0)
        r = fs->ops->open(fs, &t->as, t->exe.ino, O_RDONLY, &f);
    if (r != 0)
        return r;
    uint8_t *bytes = malloc(a.size ? a.size : 1);
    while (bytes && n > 0 && pos < a.size)
        n = f->ops->read(f, t, bytes + pos, a.size - pos, &pos);
    file_put(f);
    *ret = bytes;
    *ret_len = pos;
    return bytes ? 0 : -ENOMEM;
}

/* The frozen module is built from the program's own file, so that code and
 * custom sections stay as they are. */
static int
freeze_parked(struct kernel *k, struct task *t, int hfd)
{
    struct resident_state state;
    uint8_t *bytes = NULL, *frozen = NULL;
    size_t len = 0, frozen_len = 0;

    int r = freeze_read_program(t, &bytes, &len);
    if (r < 0)
        return r;
    resident_get_state(t, &state);
    struct program_source src = {
        .bytes = bytes, .len = len, .name = t->args.exe, .is_trusted = true};
    r = k->machine->freeze(t->thread->machine, &src, &state, sizeof state,
                           &frozen, &frozen_len);
    if (r == 0)
        r = hfd_write_all(hfd, frozen, frozen_len);
    free(bytes);
    free(frozen);
    return r;
}

static int
freeze_open_null(struct kernel *k, OWN struct file **ret)
{
    const struct at at = {.vfs = &k->vfs, .path = "/dev/null"};

    return vfs_open(&at, O_RDWR, 0, ret);
}

/* Starts the program without input and output. Returns the pid or -errno. */
static int
freeze_spawn(struct kernel *k, const struct wsand_exec *x, char *why,
             size_t why_size)
{
    CLEANUP(program_putp) struct program *pending = NULL;

    for (;;) {
        struct spawn s = {
            .path = x->path, .argv = x->argv, .envp = x->envp, .cwd = x->cwd};
        int r = 0;
        for (int i = 0; r == 0 && i < 3; i++)
            r = freeze_open_null(k, &s.stdio[i]);
        if (r == 0)
            r = kernel_spawn(k, &s, why, why_size);
        if (r != -EINPROGRESS)
            return r;
        program_put(pending);
        pending = s.program;
        r = program_await(&host_native, pending, -1, 0);
        if (r < 0)
            return r;
    }
}

/* Returns true if t can write to memory that it shares. A mapping that it only
 * reads, for example of a file with a time zone, becomes a copy. */
static bool
freeze_shares(const struct task *t)
{
    for (size_t i = 0; i < t->n_maps; i++)
        if (t->maps[i].prot & PROT_WRITE)
            return true;
    return false;
}

/* The task becomes resident only for this call: that makes sys.next park it
 * instead of failing. */
int
wsand_freeze(struct wsand_sandbox *sb, const struct wsand_exec *given, int hfd,
             struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct kernel *k = sb->kernel;
    char why[160] = "";
    struct resident res = {0};
    struct wsand_exec x;

    int r = SIZED_TAKE(&x, given, "wsand_exec", err);
    if (r != 0)
        return r;
    int pid = freeze_spawn(k, &x, why, sizeof why);
    if (pid < 0)
        return error_errno(err, -pid, "%s: %s", x.path, why);
    res.task = task_find(k, pid);
    res.task->resident = &res;
    (void)kernel_run(k, freeze_is_over, &res, NS_NEVER);
    bool shares = freeze_shares(res.task);
    r = res.is_parked && !res.is_dead && !res.had_threads && !shares
            ? freeze_parked(k, res.task, hfd)
            : -ENOEXEC;
    res.task->resident = NULL;
    if (res.had_threads)
        return error_errno(err, EBUSY,
                           "%s cannot be frozen: it has a second thread. Start "
                           "threads after sys.next",
                           x.path);
    if (shares)
        return error_errno(err, EBUSY,
                           "%s cannot be frozen: it writes to memory "
                           "that other processes share. Map it after sys.next",
                           x.path);
    return r < 0 ? error_errno(err, -r, "%s cannot be frozen", x.path) : 0;
}
