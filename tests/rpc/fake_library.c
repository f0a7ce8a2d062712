/* A library in which every call fails or does nothing; jobs are done at once.
 */
#include "fake_library.h"

#include "wasmsand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wsand_runtime {
    int unused;
};
struct wsand_sandbox {
    int unused;
};

static unsigned n_calls, fail_every;
static struct wsand_runtime the_runtime;

void
fake_library_reset(unsigned every)
{
    n_calls = 0;
    fail_every = every;
}

/* --- the library */

static int
result(struct wsand_error *err)
{
    if (!fail_every || ++n_calls % fail_every)
        return 0;
    if (err) {
        err->errnum = EIO;
        (void)snprintf(err->message, sizeof err->message, "EIO: as told");
    }
    return -EIO;
}

const char *
wsand_version(void)
{
    return "fuzz";
}

const char *
wsand_error_text(const struct wsand_error *err)
{
    return err->message;
}

const char *
wsand_class_name(enum wsand_class c)
{
    return c ? "CLASS" : NULL;
}

int
wsand_runtime_new(const struct wsand_runtime_options *o,
                  struct wsand_runtime **ret, struct wsand_error *err)
{
    (void)o;
    (void)err;
    *ret = &the_runtime;
    return 0;
}

void
wsand_runtime_free(struct wsand_runtime *rt)
{
    (void)rt;
}

/* Reads all that it is given. */
static void
touch(const char *s)
{
    if (s && strlen(s) == SIZE_MAX)
        abort();
}

int
wsand_sandbox_new(struct wsand_runtime *rt, const struct wsand_options *o,
                  struct wsand_sandbox **ret, struct wsand_error *err)
{
    (void)rt;
    for (const char *const *e = o->env; e && *e; e++)
        touch(*e);
    for (const char *const *e = o->allow_tools; e && *e; e++)
        touch(*e);
    for (const char *const *e = o->writable_paths; e && *e; e++)
        touch(*e);
    for (size_t i = 0; i < o->n_mounts; i++)
        for (size_t j = 0; j < o->mounts[i].n_files; j++)
            touch(o->mounts[i].files[j].path);
    for (size_t i = 0; i < o->n_commands; i++)
        touch(o->commands[i].help);
    for (size_t i = 0; i < o->n_mount_limits; i++)
        touch(o->mount_limits[i].guest_path);
    touch(o->cwd);
    touch(o->user);
    int r = result(err);
    if (r == 0)
        *ret = calloc(1, sizeof **ret);
    return r;
}

void
wsand_sandbox_free(struct wsand_sandbox *sb)
{
    free(sb);
}

int
wsand_fork(struct wsand_sandbox *sb, struct wsand_sandbox **ret,
           struct wsand_error *err)
{
    int r = result(err);

    (void)sb;
    if (r == 0)
        *ret = calloc(1, sizeof **ret);
    return r;
}

int
wsand_post(struct wsand_sandbox *sb,
           void (*fn)(struct wsand_sandbox *sb, void *arg), void *arg,
           struct wsand_error *err)
{
    (void)err;
    fn(sb, arg);
    return 0;
}

int
wsand_enter(struct wsand_sandbox *sb)
{
    (void)sb;
    return 0;
}

void
wsand_leave(struct wsand_sandbox *sb)
{
    (void)sb;
}

int
wsand_post_beside(struct wsand_sandbox *sb,
                  void (*fn)(struct wsand_sandbox *sb, void *arg), void *arg,
                  struct wsand_error *err)
{
    return wsand_post(sb, fn, arg, err);
}

int
wsand_beside(struct wsand_sandbox *sb,
             void (*fn)(struct wsand_sandbox *sb, void *arg), void *arg,
             struct wsand_error *err)
{
    return wsand_post(sb, fn, arg, err);
}

int
wsand_runtime_post(struct wsand_runtime *rt, void (*fn)(void *arg), void *arg,
                   struct wsand_error *err)
{
    (void)rt;
    (void)err;
    fn(arg);
    return 0;
}

int
wsand_run(struct wsand_sandbox *sb, const struct wsand_run *run,
          struct wsand_output *ret, struct wsand_error *err)
{
    int r = result(err);

    (void)sb;
    touch(run->cwd);
    for (const char *const *e = run->env; e && *e; e++)
        touch(*e);
    if (r < 0)
        return r;
    for (size_t i = 0; run->on_output && i < run->command_len; i++)
        run->on_output(run->on_output_arg, 1 + i % 2, run->command + i, 1);
    ret->out = malloc(run->input_len + 1);
    ret->out_len = run->input_len;
    if (run->input_len)
        memcpy(ret->out, run->input, run->input_len);
    ret->err = malloc(run->command_len + 1);
    ret->err_len = run->command_len;
    memcpy(ret->err, run->command, run->command_len);
    ret->timed_out = n_calls % 3 == 1;
    ret->out_dropped = n_calls % 2;
    return 0;
}

void
wsand_output_free(struct wsand_output *out)
{
    free(out->out);
    free(out->err);
}

void
wsand_cancel(struct wsand_sandbox *sb)
{
    (void)sb;
}

int
wsand_run_resume(struct wsand_sandbox *sb, struct wsand_error *err)
{
    (void)sb;
    (void)err;
    return 0;
}

/* Every other state had two processes. */
int
wsand_not_copied(struct wsand_sandbox *sb, struct wsand_lost_process **ret,
                 size_t *ret_n, struct wsand_error *err)
{
    (void)sb;
    (void)err;
    if (n_calls % 2)
        return 0;
    struct wsand_lost_process *v = calloc(2, sizeof *v);
    v[0] = (struct wsand_lost_process){7, 0, "sleep \"1\""};
    v[1] = (struct wsand_lost_process){8, 3, "\xff"};
    *ret = v;
    *ret_n = 2;
    return 0;
}

int
wsand_file_read(struct wsand_sandbox *sb, const char *path, uint64_t offset,
                size_t length, void **ret_data, size_t *ret_len,
                struct wsand_error *err)
{
    int r = result(err);

    (void)sb;
    (void)offset;
    if (r < 0)
        return r;
    *ret_data = strdup(path);
    *ret_len = length < strlen(path) ? length : strlen(path);
    return 0;
}

int
wsand_file_write(struct wsand_sandbox *sb, const struct wsand_write *w,
                 struct wsand_error *err)
{
    (void)sb;
    touch(w->path);
    return result(err);
}

int
wsand_file_list(struct wsand_sandbox *sb, const char *path,
                struct wsand_list *ret, struct wsand_error *err)
{
    int r = result(err);

    (void)sb;
    if (r < 0)
        return r;
    ret->v = calloc(1, sizeof *ret->v);
    ret->v->name = strdup(path);
    ret->n = 1;
    return 0;
}

void
wsand_list_free(struct wsand_list *list)
{
    free(list->v->name);
    free(list->v);
}

int
wsand_file_stat(struct wsand_sandbox *sb, const char *path, bool follow,
                struct wsand_stat *ret, struct wsand_error *err)
{
    (void)sb;
    (void)follow;
    touch(path);
    *ret = (struct wsand_stat){.mtime_ns = -1};
    return result(err);
}

#define TWO_PATHS(name)                                              \
    int name(struct wsand_sandbox *sb, const char *a, const char *b, \
             struct wsand_error *err)                                \
    {                                                                \
        (void)sb;                                                    \
        touch(a);                                                    \
        touch(b);                                                    \
        return result(err);                                          \
    }
TWO_PATHS(wsand_file_rename)
TWO_PATHS(wsand_file_symlink)
TWO_PATHS(wsand_env_set)

int
wsand_file_mkdir(struct wsand_sandbox *sb, const char *path, uint32_t mode,
                 bool recursive, struct wsand_error *err)
{
    (void)sb;
    (void)mode;
    (void)recursive;
    touch(path);
    return result(err);
}

int
wsand_file_rm(struct wsand_sandbox *sb, const char *path, bool recursive,
              struct wsand_error *err)
{
    return wsand_file_mkdir(sb, path, 0, recursive, err);
}

int
wsand_file_chmod(struct wsand_sandbox *sb, const char *path, uint32_t mode,
                 struct wsand_error *err)
{
    return wsand_file_mkdir(sb, path, mode, false, err);
}

int
wsand_mount(struct wsand_sandbox *sb, const struct wsand_mount *m,
            struct wsand_error *err)
{
    return wsand_file_mkdir(sb, m->guest_path, 0, false, err);
}

int
wsand_env_get(struct wsand_sandbox *sb, const char *name, char **ret,
              struct wsand_error *err)
{
    int r = result(err);

    (void)sb;
    if (r == 0)
        *ret = n_calls % 2 ? strdup(name) : NULL;
    return r;
}

int
wsand_env_unset(struct wsand_sandbox *sb, const char *name,
                struct wsand_error *err)
{
    return wsand_file_mkdir(sb, name, 0, false, err);
}

static int
give_list(char ***ret, struct wsand_error *err)
{
    int r = result(err);

    if (r < 0)
        return r;
    *ret = calloc(2, sizeof **ret + 8);
    (*ret)[0] = strcpy((char *)(*ret + 2), "A=b\"");
    return 0;
}

int
wsand_env_list(struct wsand_sandbox *sb, char ***ret, struct wsand_error *err)
{
    (void)sb;
    return give_list(ret, err);
}

int
wsand_history_list(struct wsand_sandbox *sb, char ***ret,
                   struct wsand_error *err)
{
    (void)sb;
    return give_list(ret, err);
}

int
wsand_network_get(struct wsand_sandbox *sb, char ***ret, uint64_t *ret_revision,
                  struct wsand_error *err)
{
    (void)sb;
    *ret_revision = 1;
    return give_list(ret, err);
}

int
wsand_network_set(struct wsand_sandbox *sb, const char *const *rules,
                  struct wsand_error *err)
{
    (void)sb;
    (void)rules;
    return result(err);
}

int
wsand_port_forward(struct wsand_sandbox *sb, uint16_t port, const char *address,
                   uint16_t host_port, uint16_t *ret_port,
                   struct wsand_error *err)
{
    (void)sb;
    (void)address;
    *ret_port = host_port ? host_port : port;
    return result(err);
}

int
wsand_port_unforward(struct wsand_sandbox *sb, uint16_t port,
                     struct wsand_error *err)
{
    (void)sb;
    (void)port;
    return result(err);
}

int
wsand_port_list(struct wsand_sandbox *sb, struct wsand_port **ret,
                size_t *ret_n, struct wsand_error *err)
{
    (void)sb;
    *ret = NULL;
    *ret_n = 0;
    return result(err);
}

void
wsand_history_clear(struct wsand_sandbox *sb)
{
    (void)sb;
}

int
wsand_snapshot_create(struct wsand_sandbox *sb, uint64_t *ret,
                      struct wsand_error *err)
{
    (void)sb;
    *ret = n_calls;
    return result(err);
}

int
wsand_snapshot_restore(struct wsand_sandbox *sb, uint64_t id,
                       struct wsand_error *err)
{
    (void)sb;
    (void)id;
    return result(err);
}

int
wsand_snapshot_delete(struct wsand_sandbox *sb, uint64_t id,
                      struct wsand_error *err)
{
    return wsand_snapshot_restore(sb, id, err);
}

int
wsand_snapshot_list(struct wsand_sandbox *sb, uint64_t **ret_ids, size_t *ret_n,
                    struct wsand_error *err)
{
    int r = result(err);

    (void)sb;
    if (r < 0)
        return r;
    *ret_ids = calloc(2, sizeof **ret_ids);
    *ret_n = 2;
    return 0;
}

int
wsand_reset(struct wsand_sandbox *sb, struct wsand_error *err)
{
    (void)sb;
    return result(err);
}

int
wsand_export(struct wsand_sandbox *sb, void **ret_data, size_t *ret_len,
             struct wsand_error *err)
{
    int r = result(err);

    (void)sb;
    if (r < 0)
        return r;
    *ret_data = calloc(1, 100);
    *ret_len = 100;
    return 0;
}

int
wsand_import(struct wsand_sandbox *sb, const void *data, size_t len,
             struct wsand_error *err)
{
    (void)sb;
    (void)data;
    (void)len;
    return result(err);
}

/* Of workers, which this server is none of. */
int
wsand_state_changes(struct wsand_sandbox *sb, const struct wsand_sink *to,
                    bool with_script, struct wsand_error *err)
{
    (void)sb, (void)to, (void)with_script, (void)err;
    abort();
}

int
wsand_state_begin(struct wsand_sandbox *sb, struct wsand_state **ret,
                  struct wsand_error *err)
{
    (void)sb, (void)ret, (void)err;
    abort();
}

int
wsand_state_put(struct wsand_state *st, const void *key, size_t key_len,
                const void *value, size_t len, struct wsand_error *err)
{
    (void)st, (void)key, (void)key_len, (void)value, (void)len, (void)err;
    abort();
}

int
wsand_state_apply(struct wsand_state *st, struct wsand_error *err)
{
    (void)st, (void)err;
    abort();
}

void
wsand_state_free(struct wsand_state *st)
{
    (void)st;
}

/* A process ends before anybody can wait for it. */
int
wsand_process_start(struct wsand_sandbox *sb,
                    const struct wsand_process_options *o, uint64_t *ret_id,
                    struct wsand_error *err)
{
    int r = result(err);

    (void)sb;
    touch(o->command);
    touch(o->cwd);
    touch(o->user);
    if (r < 0)
        return r;
    *ret_id = 1;
    if (o->on_start)
        o->on_start(o->arg, 1);
    o->on_output(o->arg, 1, 1, "\xe2\x82", 2);
    o->on_exit(o->arg, 1, 0);
    return 0;
}

int
wsand_process_resume(struct wsand_sandbox *sb, uint64_t id,
                     struct wsand_error *err)
{
    (void)sb;
    (void)id;
    (void)err;
    return 0;
}

int
wsand_process_write(struct wsand_sandbox *sb, uint64_t id, const void *data,
                    size_t len, struct wsand_error *err)
{
    (void)id;
    return wsand_import(sb, data, len, err);
}

int
wsand_process_resize(struct wsand_sandbox *sb, uint64_t id, uint16_t rows,
                     uint16_t cols, struct wsand_error *err)
{
    (void)rows;
    (void)cols;
    return wsand_snapshot_restore(sb, id, err);
}

int
wsand_process_kill(struct wsand_sandbox *sb, uint64_t id, int sig,
                   struct wsand_error *err)
{
    (void)sig;
    return wsand_snapshot_restore(sb, id, err);
}

int
wsand_process_list(struct wsand_sandbox *sb, struct wsand_process **ret,
                   size_t *ret_n, struct wsand_error *err)
{
    int r = result(err);

    (void)sb;
    if (r < 0)
        return r;
    *ret = calloc(1, sizeof **ret);
    *ret_n = 1;
    return 0;
}

/* Host commands are never called here. */
const struct wsand_call_info *
wsand_call_info(const struct wsand_call *call)
{
    (void)call;
    abort();
}

void
wsand_call_reply(struct wsand_call *call, int exit_code, const void *out,
                 size_t out_len, const void *err, size_t err_len)
{
    (void)call;
    (void)exit_code;
    (void)out;
    (void)out_len;
    (void)err;
    (void)err_len;
    abort();
}

int
wsand_status(const struct wsand_sandbox *sb, struct wsand_status *ret,
             struct wsand_error *err)
{
    (void)sb;
    (void)ret;
    (void)err;
    return 0;
}
