/* Sandboxes: a kernel with its file systems, limits and options.
 *
 * A sandbox is created in two steps: an empty structure that wsand_sandbox_free
 * can free at any point, and its contents. A fork differs only in the second
 * step, which copies the state of a snapshot. */
#include "lib/sandbox.h"

#include "base/os_time.h"
#include "engine/engine.h"
#include "host/native.h"
#include "kernel/kernel.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/call.h"
#include "lib/command.h"
#include "lib/env.h"
#include "lib/error.h"
#include "lib/files.h"
#include "lib/history.h"
#include "lib/hostmap.h"
#include "lib/mounts.h"
#include "lib/network.h"
#include "lib/options.h"
#include "lib/process.h"
#include "lib/shell.h"
#include "lib/sized.h"
#include "lib/skeleton.h"
#include "lib/snapshot.h"
#include "lib/user.h"
#include "tree/image.h"
#include "tree/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Times of files that the library creates. A repeatable sandbox must not show
 * the host's clock. */
static int64_t
sandbox_now_ns(const struct wsand_options *o)
{
    return o->is_deterministic ? o->clock_ns : time_wall_ns();
}

/* --- limits */

/* 0 means that the option was not given. */
static int
sandbox_set_limit(uint64_t *max, enum limit_id id, uint64_t value,
                  struct wsand_error *err)
{
    const struct limit_info *info = limit_info(id);

    if (!value)
        return 0;
    if (value < info->min || value > info->max)
        return error_set(err, EINVAL,
                         "limit %s: %llu is not between %llu and %llu %s",
                         info->name, (unsigned long long)value,
                         (unsigned long long)info->min,
                         (unsigned long long)info->max, info->unit);
    max[id] = value;
    return 0;
}

/* Every limit has a default in limits.def; options override it within the range
 * of its row. */
static int
sandbox_get_limits(const struct wsand_options *o, uint64_t *max,
                   struct wsand_error *err)
{
    const struct {
        enum limit_id id;
        uint64_t value;
    } given[] = {
        {LIMIT_memory, o->memory_bytes}, {LIMIT_file_bytes, o->file_bytes},
        {LIMIT_files, o->files},         {LIMIT_processes, o->processes},
        {LIMIT_cpu, o->cpu_ms},          {LIMIT_stdout, o->stdout_bytes},
        {LIMIT_stderr, o->stderr_bytes}, {LIMIT_command, o->command_bytes},
    };
    int r = 0;

    for (int i = 0; i < LIMIT_COUNT; i++)
        max[i] = limit_info((enum limit_id)i)->dflt;
    for (size_t i = 0; r == 0 && i < sizeof given / sizeof *given; i++)
        r = sandbox_set_limit(max, given[i].id, given[i].value, err);
    return r;
}

/* --- the root file system */

/* Loads the compiled code, if it exists or must be checked now. Otherwise the
 * program is compiled when it runs, within the time limit of that run. */
static int
sandbox_load_program(struct wsand_runtime *rt, const struct wsand_program *p,
                     const struct host_file *f, OWN struct program **ret,
                     struct wsand_error *err)
{
    const struct program_source src = {.bytes = f->bytes,
                                       .len = f->len,
                                       .name = p->host_path,
                                       .is_trusted = true,
                                       .cached_only = !p->is_checked,
                                       .file = f};
    char why[160] = "";

    int r = runtime_load(rt, &src, ret, why, sizeof why);
    if (r == 0 || !p->is_checked)
        return 0;
    return why[0] ? error_set(err, -r, "%s: %s", p->host_path, why)
                  : error_errno(err, -r, "%s", p->host_path);
}

static int
sandbox_put_bytes(struct tree *t, const char *path, const void *p, size_t len,
                  int64_t now, uint64_t *ret_ino, struct wsand_error *err)
{
    const struct attr executable = {.mode = S_IFREG | 0755};

    int r = skeleton_put_file(t, path, p, len, &executable, now, ret_ino);
    return r < 0 ? error_errno(err, -r, "%s in the sandbox", path) : 0;
}

/* Puts a script in place of a program that cannot run, which prints the reason.
 * The host's path at the beginning of the reason is omitted: a guest must not
 * see it. */
static int
sandbox_put_reason(struct tree *t, const struct wsand_program *p,
                   const struct wsand_error *why, int64_t now,
                   struct wsand_error *err)
{
    const char *name = strrchr(p->guest_path, '/');
    const char *reason = wsand_error_text(why);
    size_t skip = strlen(p->host_path) + 2;
    CLEANUP(buf_fini) struct buf line;
    CLEANUP(buf_fini) struct buf b;
    uint64_t ino;

    buf_init(&line, SIZE_MAX);
    buf_init(&b, SIZE_MAX);
    buf_printf(&line, "%s: this module cannot run here: %s", name + 1,
               strlen(reason) > skip ? reason + skip : reason);
    buf_puts(&b, "#!/bin/sh\necho ");
    command_quote(&b, line.error ? "" : line.p);
    buf_puts(&b, " >&2\nexit 126\n");
    if (line.error || b.error)
        return error_set(err, ENOMEM, "out of memory");
    return sandbox_put_bytes(t, p->guest_path, b.p, b.len, now, &ino, err);
}

/* Puts a host program into the tree, together with its compiled code if it was
 * loaded. */
static int
sandbox_put_file(struct wsand_runtime *rt, struct tree *t, bool keeps_bad,
                 const struct wsand_program *p, const struct host_file *f,
                 int64_t now, struct wsand_error *err)
{
    CLEANUP(program_putp) struct program *program = NULL;
    struct wsand_error why = {0};
    uint64_t ino;

    int r = sandbox_load_program(rt, p, f, &program, &why);
    if (r < 0 && r != -ENOMEM && keeps_bad)
        return sandbox_put_reason(t, p, &why, now, err);
    if (r < 0) {
        if (err)
            *err = why;
        return r;
    }
    r = sandbox_put_bytes(t, p->guest_path, f->bytes, f->len, now, &ino, err);
    if (r == 0 && program)
        tree_attach(t, ino, &program->ref);
    return r;
}

/* A program that cannot be read is an error of the program, not of the sandbox,
 * so that the caller can report it as such. */
static int
sandbox_put_program(struct wsand_runtime *rt, struct tree *t, bool keeps_bad,
                    const struct wsand_program *p, int64_t now,
                    struct wsand_error *err)
{
    struct host_file f;

    int r = hostmap_open(p->host_path, &f);
    if (r < 0) {
        r = error_errno(err, -r, "%s", p->host_path);
        return p->is_checked ? r : error_of_program(err, r);
    }
    r = sandbox_put_file(rt, t, keeps_bad, p, &f, now, err);
    hostmap_close(&f);
    return r;
}

/* Makes the tree that the sandbox starts with. Its files are not charged to the
 * guest, except programs that were put into an image: those exist once for each
 * sandbox. */
static int
sandbox_make_tree(struct wsand_runtime *rt, const struct root_image *image,
                  const struct wsand_options *o, struct tree *ret,
                  struct wsand_error *err)
{
    const struct quota unlimited = {UINT64_MAX, UINT64_MAX};
    int64_t now = sandbox_now_ns(o);
    int r;

    if (image->image) {
        r = tree_clone(image_tree(image->image), ret);
        ret->max = unlimited;
    } else {
        r = tree_init(ret, &unlimited, now);
        if (r == 0)
            r = skeleton_fill(ret, now);
    }
    if (r < 0)
        return error_errno(err, -r, "cannot create the file system");
    for (size_t i = 0; i < o->n_programs; i++) {
        r = sandbox_put_program(rt, ret, o->keeps_bad_programs, &o->programs[i],
                                now, err);
        if (r < 0)
            return r;
    }
    r = commands_put(ret, o, now, err);
    if (r == 0 && !image->image)
        tree_uncharge(ret);
    return r;
}

static int
sandbox_make_root(const struct wsand_sandbox *sb, const struct wsand_options *o,
                  const uint64_t *max, OWN struct fs **ret,
                  struct wsand_error *err)
{
    CLEANUP(tree_fini) struct tree t = {0};

    int r = sandbox_make_tree(sb->runtime, sb->image, o, &t, err);
    if (r < 0)
        return r;
    r = tmpfs_new(NULL, &t, max[LIMIT_file_bytes], max[LIMIT_files], ret);
    return r < 0 ? error_errno(err, -r, "cannot create the file system") : 0;
}

/* --- creating, forking and freeing */

/* 0 means off: standard input cannot be a sink. */
static int
sandbox_open_strace(struct wsand_sandbox *sb, int hfd, struct wsand_error *err)
{
    if (!hfd)
        return 0;
    int r = host_sink_open(hfd, &sb->strace);
    if (r < 0)
        return error_errno(err, -r, "strace");
    sb->kernel->strace = sb->strace;
    return 0;
}

/* Called by the kernel between time slices when another thread has kicked
 * it. */
static void
sandbox_on_kick(void *arg)
{
    mail_deliver(arg);
    processes_pump(arg);
}

/* The shell must be able to enter the folder that it begins in, with the rights
 * of its user. */
static int
sandbox_check_cwd(struct wsand_sandbox *sb, const char *path,
                  struct wsand_error *err)
{
    struct vnode v;
    struct attr a;

    if (!path)
        return 0;
    if (path[0] != '/')
        return error_set(err, EINVAL, "cwd: not an absolute path: %s", path);
    int r = strlen(path) < PATH_BYTES_MAX ? sandbox_find_folder(sb, path, &v)
                                          : -ENAMETOOLONG;
    if (r == 0)
        r = vnode_getattr(&v, &a);
    if (r == 0)
        r = vfs_access(&sb->kernel->user, &a, X_OK);
    return r < 0 ? error_path(err, -r, path) : 0;
}

/* Creates the kernel on `root`, which it consumes, and mounts the rest.
 * `mounts` and `from` are as for mounts_make, and `given` is as in
 * kernel_options. */
static int
sandbox_fill(struct wsand_sandbox *sb, const uint64_t *max, OWN struct fs *root,
             const struct wsand_mount *mounts, const struct snapshot *from,
             const struct tree *given, struct wsand_error *err)
{
    const struct wsand_options *o = &sb->options;
    struct kernel_options ko = {.host = &host_native,
                                .machine = engine_ops(),
                                .image_file = &sb->image->file,
                                .engine = sb->runtime->engine,
                                .limits = max,
                                .is_deterministic = o->is_deterministic,
                                .seed = o->seed,
                                .start_ns = o->clock_ns,
                                .allow_tools = o->allow_tools,
                                .is_root = user_of(sb)->id == ROOT_ID,
                                .given = given};

    int r = network_start(sb, &ko, err);
    if (r < 0) {
        root->ops->free(root);
        return r;
    }
    r = kernel_new(&ko, root, &sb->kernel);
    if (r < 0)
        return error_errno(err, -r, "cannot create the sandbox");
    sb->kernel->on_kick = sandbox_on_kick;
    sb->kernel->on_kick_arg = sb->kernel->host_arg = sb;
    if (o->n_commands)
        sb->kernel->host_call = call_begin_command;
    r = mounts_make(sb, mounts, from, err);
    return r < 0 ? r : sandbox_open_strace(sb, o->strace_fd, err);
}

/* Allocates a sandbox with a copy of the options, and no kernel. */
static int
sandbox_alloc(struct wsand_runtime *rt, struct root_image *image,
              const struct wsand_options *o, OWN struct wsand_sandbox **ret,
              struct wsand_error *err)
{
    struct wsand_sandbox *sb = calloc(1, sizeof *sb);

    if (sb) {
        sb->runtime = rt;
        sb->image = image;
        sb->run_deadline_ns = NS_NEVER;
        lease_init(&sb->lease, &rt->crews);
        mailbox_init(&sb->mailbox);
        processes_init(&sb->processes);
        list_init(&sb->snapshots);
    }
    if (!sb || options_copy(&sb->options, o) < 0) {
        wsand_sandbox_free(sb);
        (void)error_set(err, ENOMEM, "out of memory");
        return -ENOMEM;
    }
    *ret = sb;
    return 0;
}

/* Ends a creation with the result r: frees the sandbox if it failed, and
 * otherwise gives it to the caller. */
static int
sandbox_give(int r, OWN struct wsand_sandbox *sb,
             OWN struct wsand_sandbox **ret)
{
    if (r < 0) {
        wsand_sandbox_free(sb);
        return r;
    }
    *ret = sb;
    return 0;
}

/* Everything that can be checked without a kernel is checked first. The initial
 * snapshot at the end is what wsand_reset returns to. */
int
wsand_sandbox_new(struct wsand_runtime *rt, const struct wsand_options *given,
                  struct wsand_sandbox **ret, struct wsand_error *err)
{
    uint64_t max[LIMIT_COUNT];
    struct wsand_sandbox *sb = NULL;
    struct wsand_options o;
    const struct user *user;
    struct root_image *image;
    struct fs *root = NULL;

    int r = SIZED_TAKE(&o, given, "wsand_options", err);
    if (r == 0)
        r = user_find(o.user, &user, err);
    if (r == 0)
        r = runtime_find_image(rt, o.image, &image, err);
    if (r == 0)
        r = sandbox_get_limits(&o, max, err);
    if (r == 0 && o.needs_shell)
        r = minimum_check(rt, image, max[LIMIT_memory], err);
    if (r == 0)
        r = env_check(o.env, err);
    if (r == 0)
        r = commands_check(&o, err);
    if (r == 0)
        r = network_check(rt, &o, err);
    if (r == 0)
        r = sandbox_alloc(rt, image, &o, &sb, err);
    if (r != 0)
        return r;
    sb->options.user = user->name;
    r = sandbox_make_root(sb, &o, max, &root, err);
    if (r == 0)
        r = sandbox_fill(sb, max, root, o.mounts, NULL, NULL, err);
    if (r == 0)
        r = sandbox_check_cwd(sb, o.cwd, err);
    if (r == 0 && snapshot_new(sb, true, &sb->initial) < 0)
        r = error_set(err, ENOMEM, "out of memory");
    return sandbox_give(r, sb, ret);
}

int
sandbox_find_folder(struct wsand_sandbox *sb, const char *path,
                    struct vnode *ret)
{
    const struct at at = {.vfs = &sb->kernel->vfs, .path = path};
    struct walk w;

    int r = path_walk(&at, WALK_DIRECTORY, &w);
    if (r == 0)
        *ret = w.node;
    return r;
}

/* Makes the root file system of a snapshot, with the limits of the original. */
static int
sandbox_clone_root(const struct kernel *k, const struct snapshot *s,
                   OWN struct fs **ret)
{
    return tmpfs_new(NULL, snapshot_tree(s, 0), k->limits.max[LIMIT_file_bytes],
                     k->limits.max[LIMIT_files], ret);
}

/* Makes sb a copy of the state s of `from`. That state is also its initial one,
 * to which wsand_reset returns. */
static int
sandbox_fill_fork(struct wsand_sandbox *sb, const struct wsand_sandbox *from,
                  OWN struct snapshot *s, struct wsand_error *err)
{
    struct fs *root = NULL;

    sb->initial = s;
    sb->history = history_get(from->history);
    gone_copy(&sb->gone, &s->gone);
    int r = sandbox_clone_root(from->kernel, s, &root);
    if (r < 0)
        return error_errno(err, -r, "cannot copy the file system");
    r = sandbox_fill(sb, from->kernel->limits.max, root, NULL, s,
                     from->kernel->given, err);
    if (r < 0)
        return r;
    network_copy_names(sb, from);
    r = snapshot_thaw(s, sb);
    return r < 0 ? error_errno(err, -r, "cannot copy the queues and shell") : 0;
}

/* Creates a fork. With a tree t, the fork has these files and no shell. */
static int
sandbox_fork_with(struct wsand_sandbox *from, const struct tree *t,
                  OWN struct wsand_sandbox **ret, struct wsand_error *err)
{
    struct wsand_sandbox *sb = NULL;
    struct snapshot *s = NULL;

    int r = sandbox_alloc(from->runtime, from->image, &from->options, &sb, err);
    if (r != 0)
        return r;
    r = snapshot_new(from, true, &s);
    if (r == 0 && t)
        r = snapshot_set_files(s, t);
    if (r < 0) {
        snapshot_free(s);
        r = error_errno(err, -r, "cannot copy the sandbox");
    } else {
        r = sandbox_fill_fork(sb, from, s, err);
    }
    return sandbox_give(r, sb, ret);
}

/* The checkpoint makes the fork contain the shell's current state. Everything
 * else is shared, so a fork costs the same for any size of a sandbox. */
int
wsand_fork(struct wsand_sandbox *from, struct wsand_sandbox **ret,
           struct wsand_error *err)
{
    SANDBOX_LEASE(from, err);
    int r = wsand_checkpoint(from, err);

    return r < 0 ? r : sandbox_fork_with(from, NULL, ret, err);
}

int
sandbox_draft(struct wsand_sandbox *sb, const struct tree *t,
              OWN struct wsand_sandbox **ret, struct wsand_error *err)
{
    return sandbox_fork_with(sb, t, ret, err);
}

/* Closing the lease comes first, so that no other thread uses the sandbox.
 * Undelivered mail is delivered at the end, because its senders wait for an
 * answer. */
void
wsand_sandbox_free(struct wsand_sandbox *sb)
{
    if (!sb)
        return;
    lease_close(sb);
    processes_end(sb);
    shell_free(sb->shell);
    history_put(sb->history);
    gone_fini(&sb->gone);
    snapshots_free(sb);
    kernel_free(sb->kernel);
    network_free(sb->network);
    mail_deliver(sb); /* nobody waits for it any more */
    host_sink_close(sb->strace);
    options_fini(&sb->options);
    processes_fini(&sb->processes);
    mailbox_fini(&sb->mailbox);
    lease_fini(&sb->lease);
    free(sb);
}
