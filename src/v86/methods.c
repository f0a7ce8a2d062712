#include "v86/methods.h"

#include "v86/job.h"

#include <string.h>

static const struct method rows[] = {
#define METHOD(name, handler, flags, where, instead, result, doc) \
    {name, sizeof name - 1, NULL, flags, where, NULL, {0}},
#define PARAM(name, type, need, least, most, doc) \
    {NULL, 0, NULL, 0, 0, NULL, {name, type, need, least, most}},
#include "rpc/methods.def"
#include "rpc/worker.def"
#undef METHOD
#undef PARAM
};

/* A table by name, because most rows have no handler here. */
static const struct {
    const char *name;
    bool is_line;
    v86_handler *handle;
} handlers[] = {
    {"create", false, v86_do_create},
    {"state.load", false, v86_do_state_load},
    {"state.commit", false, v86_do_state_commit},
    {"run", false, v86_do_run},
    {"cancel", false, v86_do_cancel},
    {"files.read", false, v86_do_files_read},
    {"files.write", false, v86_do_files_write},
    {"files.list", false, v86_do_files_list},
    {"files.stat", false, v86_do_files_stat},
    {"files.mkdir", false, v86_do_files_mkdir},
    {"files.rm", false, v86_do_files_rm},
    {"files.rename", false, v86_do_files_rename},
    {"files.chmod", false, v86_do_files_chmod},
    {"files.symlink", false, v86_do_files_symlink},
    {"env.set", false, v86_do_env_set},
    {"env.get", false, v86_do_env_get},
    {"env.unset", false, v86_do_env_unset},
    {"env.list", false, v86_do_env_list},
    {"sandbox.reset", false, v86_do_reset},
    {"sandbox.fork", false, v86_do_sandbox_fork},
    {"sandbox.create", false, v86_do_sandbox_create},
    {"sandbox.list", false, v86_do_sandbox_list},
    {"sandbox.destroy", false, v86_do_sandbox_destroy},
    {"sandbox.remove", false, v86_do_sandbox_destroy},
    {"snapshot.create", false, v86_do_snapshot_create},
    {"snapshot.restore", false, v86_do_snapshot_restore},
    {"snapshot.delete", false, v86_do_snapshot_delete},
    {"snapshot.list", false, v86_do_snapshot_list},
    {"persistence.export", false, v86_do_export},
    {"persistence.import", false, v86_do_import},
    {"status", false, v86_do_status},
    {"kill", false, v86_do_kill},
    {"shell", true, v86_do_run},
    {"write_file", true, v86_do_line_write},
    {"read_file", true, v86_do_line_read},
    {"reset", true, v86_do_line_reset},
    {"status", true, v86_do_line_status},
};

static bool
methods_is_common(const struct method *m, const char *name)
{
    (void)m;
    return !strcmp(name, "sandboxId");
}

const struct method_table v86_methods = {rows, sizeof rows / sizeof *rows,
                                         SERVER, NULL, methods_is_common};
const struct method_table v86_worker_methods = {
    rows, sizeof rows / sizeof *rows, WORKER, NULL, methods_is_common};

v86_handler *
v86_methods_find(const struct method *m)
{
    bool is_line = m->flags & LINE;

    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].is_line == is_line && method_is(m, handlers[i].name))
            return handlers[i].handle;
    return NULL;
}
