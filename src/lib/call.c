/* Commands of the host, and their calls.
 *
 * A call has two owners: the process that waits for it, and the host that will
 * answer. The last of them frees it. `lock` is the outermost lock: while it is
 * held and `sb` is set, the sandbox stays. */
#include "lib/call.h"

#include "base/os_time.h"
#include "kernel/hostcall.h"
#include "kernel/kernel.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/skeleton.h"
#include "tree/tree.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM_PATH "/usr/lib/wasmsand/host-command"
#define COMMANDS_DIR "/usr/bin/"
#define FIRST_DIR    "/usr/local/bin/" /* comes before it on PATH */
enum { STATUS_NO_MEMORY = 126 };

/* One call of a host command. `wait` is what the process waits on; `info` is
 * what the host sees. */
struct wsand_call {
    struct wsand_call_info info;
    OWN char **strings; /* of argv and envp, in one piece */
    OWN char *cwd;
    OWN void *input;
    _Atomic unsigned refs;

    pthread_mutex_t lock;
    struct wsand_sandbox *sb; /* NULL: nobody waits any more */

    struct hostcall wait; /* of the sandbox's thread, while sb is set */
    struct limits *charged;
    struct mail mail; /* the answer, on its way */
    int status;
    OWN char *out, *err;
    size_t out_len, err_len;
};

/* --- making one */

static void
call_put(OWN struct wsand_call *c)
{
    if (!c || atomic_fetch_sub(&c->refs, 1) > 1)
        return;
    hostcall_fini(&c->wait);
    pthread_mutex_destroy(&c->lock);
    free(c->out);
    free(c->err);
    free(c->strings);
    free(c->cwd);
    free(c->input);
    free(c);
}

/* The process does not wait any more: it was killed, or has read the answer. */
static void
call_on_drop(OWN struct call_hold *h)
{
    struct wsand_call *c = CONTAINER_OF(h, struct wsand_call, wait.hold);

    pthread_mutex_lock(&c->lock);
    c->sb = NULL;
    pthread_mutex_unlock(&c->lock);
    limits_uncharge(c->charged, LIMIT_memory, c->info.input_len);
    call_put(c);
}

/* The host may read them while the process is gone, so everything is copied. */
static int
call_copy_arguments(struct wsand_call *c, const struct args *a)
{
    size_t n = (size_t)a->argc + a->envc + 2;
    char **v = c->strings = malloc(n * sizeof *v + a->len);

    if (!v)
        return -ENOMEM;
    char *s = memcpy(v + n, a->strings, a->len);
    for (size_t i = 0; i < n; i++) {
        v[i] = i == a->argc || i == n - 1 ? NULL : s;
        if (v[i])
            s += strlen(s) + 1;
    }
    c->info.argv = (const char *const *)v;
    c->info.envp = (const char *const *)v + a->argc + 1;
    return 0;
}

static int
call_copy_input(struct wsand_call *c, const void *in, size_t len)
{
    c->input = malloc(len ? len : 1);
    if (!c->input)
        return -ENOMEM;
    memcpy(c->input, in, len);
    c->info.input = c->input;
    c->info.input_len = len;
    return 0;
}

/* A working folder that was removed has no path; the host then gets "/". */
static int
call_copy_cwd(struct wsand_call *c, struct task *t)
{
    c->info.cwd = c->cwd = malloc(PATH_BYTES_MAX);
    if (!c->cwd)
        return -ENOMEM;
    if (vnode_path(&t->cwd, c->cwd, PATH_BYTES_MAX) < 0)
        memcpy(c->cwd, "/", 2);
    return 0;
}

/* Copies everything that the host will see, because the process may be gone
 * when the host reads it. */
static OWN struct wsand_call *
call_new(struct task *t, const void *in, size_t len)
{
    struct wsand_call *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->refs = 1;
    list_init(&c->mail.link);
    pthread_mutex_init(&c->lock, NULL);
    hostcall_init(&c->wait, call_on_drop);
    if (call_copy_arguments(c, &t->args) < 0 || call_copy_cwd(c, t) < 0 ||
        call_copy_input(c, in, len) < 0) {
        call_put(c);
        return NULL;
    }
    return c;
}

/* --- calling */

static const struct wsand_command *
command_find(const struct wsand_options *o, const char *name)
{
    for (size_t i = 0; i < o->n_commands; i++)
        if (!strcmp(o->commands[i].name, name))
            return &o->commands[i];
    return NULL;
}

static OWN char *
call_copy_bytes(const void *p, size_t len)
{
    char *copy = len ? malloc(len) : NULL;

    return copy ? memcpy(copy, p, len) : NULL;
}

/* Answers --help without asking the host. Returns false if the call is
 * something else. */
static bool
call_give_help(struct wsand_call *c, const struct wsand_command *cmd)
{
    const char *const *argv = c->info.argv;

    if (!cmd->help || !argv[0] || !argv[1] || argv[2] ||
        strcmp(argv[1], "--help") != 0)
        return false;
    size_t len = strlen(cmd->help);
    char *text = malloc(len + 1);
    if (text) {
        memcpy(text, cmd->help, len);
        if (len && text[len - 1] != '\n')
            text[len++] = '\n';
    }
    hostcall_answer(&c->wait, text ? 0 : STATUS_NO_MEMORY, text, text ? len : 0,
                    NULL, 0);
    return true;
}

/* Returns the time that the run has left, at least a millisecond; 0: it has no
 * time limit. */
static uint64_t
call_timeout_ms(const struct wsand_sandbox *sb)
{
    if (sb->run_deadline_ns == NS_NEVER)
        return 0;
    int64_t ms = (sb->run_deadline_ns - time_mono_ns()) / NS_PER_MS;
    return ms > 1 ? (uint64_t)ms : 1;
}

/* Runs on the sandbox's thread, called by the kernel. The command is recognised
 * by the name that was executed. The second reference belongs to the host. */
int
call_begin_command(void *arg, struct task *t, const void *in, size_t len,
                   OWN struct hostcall **ret)
{
    struct wsand_sandbox *sb = arg;
    const struct wsand_command *cmd = command_find(&sb->options, t->exe_name);

    if (!cmd)
        return -ENOENT;
    if (!limits_charge(&sb->kernel->limits, LIMIT_memory, len))
        return -ENOMEM;
    struct wsand_call *c = call_new(t, in, len);
    if (!c) {
        limits_uncharge(&sb->kernel->limits, LIMIT_memory, len);
        return -ENOMEM;
    }
    c->charged = &sb->kernel->limits;
    c->info.name = cmd->name;
    c->info.timeout_ms = call_timeout_ms(sb);
    c->sb = sb;
    *ret = &c->wait;
    if (call_give_help(c, cmd))
        return 0;
    c->refs++;
    cmd->invoke(cmd->arg, c);
    return 0;
}

const struct wsand_call_info *
wsand_call_info(const struct wsand_call *call)
{
    return &call->info;
}

/* --- answering */

/* Runs on the sandbox's thread, so `sb` cannot change here. */
static void
call_deliver(struct wsand_sandbox *sb, OWN struct mail *m)
{
    struct wsand_call *c = CONTAINER_OF(m, struct wsand_call, mail);

    (void)sb;
    if (c->sb)
        hostcall_answer(&c->wait, c->status, STEAL(c->out), c->out_len,
                        STEAL(c->err), c->err_len);
    call_put(c);
}

/* Called by the host on any thread, once. `lock` is held while the message is
 * sent: call_on_drop needs it too, so the sandbox cannot be freed meanwhile. */
void
wsand_call_reply(struct wsand_call *c, int exit_code, const void *out,
                 size_t out_len, const void *err, size_t err_len)
{
    c->out = call_copy_bytes(out, out_len);
    c->err = call_copy_bytes(err, err_len);
    c->out_len = c->out ? out_len : 0;
    c->err_len = c->err ? err_len : 0;
    c->status = c->out_len == out_len && c->err_len == err_len
                    ? exit_code & 0xff
                    : STATUS_NO_MEMORY;
    c->mail.deliver = call_deliver;
    pthread_mutex_lock(&c->lock);
    bool is_sent = c->sb != NULL;
    if (is_sent)
        mail_send(c->sb, &c->mail);
    pthread_mutex_unlock(&c->lock);
    if (!is_sent)
        call_put(c);
}

/* --- the commands of a sandbox */

static int
call_check_command(const struct wsand_command *cmd, struct wsand_error *err)
{
    size_t len = cmd->name ? strlen(cmd->name) : 0;

    if (len && len <= NAME_BYTES_MAX && !strchr(cmd->name, '/') &&
        strcmp(cmd->name, ".") != 0 && strcmp(cmd->name, "..") != 0 &&
        cmd->invoke)
        return 0;
    return error_set(err, EINVAL, "not a command: \"%s\"",
                     cmd->name ? cmd->name : "");
}

int
commands_check(const struct wsand_options *o, struct wsand_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < o->n_commands; i++)
        r = call_check_command(&o->commands[i], err);
    return r;
}

/* A command with the name of a program of the image goes to the folder that
 * comes before it on PATH. */
static int
call_put_command(struct tree *t, const char *name, uint64_t ino, int64_t now_ns)
{
    char path[sizeof FIRST_DIR + NAME_BYTES_MAX];
    char first[sizeof FIRST_DIR + NAME_BYTES_MAX];

    (void)snprintf(path, sizeof path, COMMANDS_DIR "%s", name);
    (void)snprintf(first, sizeof first, FIRST_DIR "%s", name);
    if (skeleton_find(t, first) || skeleton_find(t, path) == ino)
        return -EEXIST;
    int r = skeleton_link(t, path, ino, now_ns);
    return r == -EEXIST ? skeleton_link(t, first, ino, now_ns) : r;
}

/* All commands are names of one program, which asks the kernel for the host's
 * function by its own name. */
int
commands_put(struct tree *t, const struct wsand_options *o, int64_t now_ns,
             struct wsand_error *err)
{
    uint64_t ino = o->n_commands ? skeleton_find(t, PROGRAM_PATH) : 0;

    if (o->n_commands && !ino)
        return error_set(err, ENOEXEC,
                         "commands need a root image with " PROGRAM_PATH);
    for (size_t i = 0; i < o->n_commands; i++) {
        int r = call_put_command(t, o->commands[i].name, ino, now_ns);
        if (r < 0)
            return error_errno(err, -r, "command %s", o->commands[i].name);
    }
    return 0;
}

int
commands_copy(struct wsand_options *to, const struct wsand_options *from)
{
    struct wsand_command *v = calloc(from->n_commands + 1, sizeof *v);

    to->commands = v;
    to->n_commands = 0;
    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < from->n_commands; i++) {
        const struct wsand_command *cmd = &from->commands[i];
        v[i] = *cmd;
        v[i].name = strdup(cmd->name);
        v[i].help = cmd->help ? strdup(cmd->help) : NULL;
        to->n_commands++;
        if (!v[i].name || !v[i].help != !cmd->help)
            return -ENOMEM;
    }
    return 0;
}

void
commands_free(struct wsand_options *o)
{
    for (size_t i = 0; i < o->n_commands; i++) {
        free((char *)o->commands[i].name);
        free((char *)o->commands[i].help);
    }
    free((struct wsand_command *)o->commands);
}
