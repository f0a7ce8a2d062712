/* Folders of the host and of the client, as mounts. */
#include "rpc/builder.h"

#include "base/vec.h"
#include "rpc/values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct wsand_mount *
mounts_add(struct builder *m, const char *guest_path)
{
    size_t n = m->o.n_mounts;

    if (!VEC_ROOM(m->mounts, n))
        return NULL;
    m->mounts[n] = (struct wsand_mount){.guest_path = guest_path};
    m->o.mounts = m->mounts;
    m->o.n_mounts++;
    return &m->mounts[n];
}

/* --- mounts of `create` */

/* The path is real, without links and dots. The folder becomes so here. */
static bool
mounts_is_under(const char *path, const char *folder)
{
    char *real = realpath(folder, NULL);
    size_t len = real ? strlen(real) : 0;

    if (len && real[len - 1] == '/')
        len--;
    bool is =
        real && !strncmp(path, real, len) && (!path[len] || path[len] == '/');
    free(real);
    return is;
}

/* Where the host's folder really is, if it may be mounted. */
static int
mounts_allowed_path(struct builder *m, const char *host_path, const char **ret)
{
    const char *const *dir = m->config->srv->options->allow_mount;
    char *real = realpath(host_path, NULL);

    if (!real)
        return report_fail_path(m->err, errno, host_path);
    *ret = builder_keep(m, real);
    if (!*ret)
        return builder_no_memory(m);
    for (; dir && *dir; dir++)
        if (mounts_is_under(*ret, *dir))
            return 0;
    m->err->error_class = WSAND_CAPABILITY_DENIED;
    return report_fail(m->err, EACCES,
                       "not under a folder of --allow-mount: %s", host_path);
}

/* How much a host folder may grow. */
static int
mounts_add_limit(struct builder *m, const char *guest_path,
                 const struct json *x)
{
    const struct json *bytes = json_get(x, "limitBytes");
    const struct json *files = json_get(x, "fileCount");
    size_t n = m->o.n_mount_limits;

    if (!json_is_number(bytes) && !json_is_number(files))
        return 0;
    if (!json_is(json_get(x, "hostPath"), JSON_STRING))
        return report_fail(m->err, EINVAL,
                           "mounts[].limitBytes and mounts[].fileCount are for "
                           "hostPath only: %s",
                           guest_path);
    if (!VEC_ROOM(m->limits, n))
        return builder_no_memory(m);
    m->limits[n] = (struct wsand_mount_limit){
        guest_path, number_from_json(bytes), number_from_json(files)};
    m->o.mount_limits = m->limits;
    m->o.n_mount_limits++;
    return 0;
}

/* A mount has either files or a host folder. */
static int
mounts_add_one(struct builder *m, const struct json *x)
{
    const struct json *host = json_get(x, "hostPath");
    const struct json *files = json_get(x, "files");
    struct wsand_mount *mount = mounts_add(m, json_text(json_get(x, "path")).p);
    struct wsand_file *v = NULL;

    if (!mount)
        return builder_no_memory(m);
    mount->is_writable = json_is(json_get(x, "writable"), JSON_TRUE);
    int r = mounts_add_limit(m, mount->guest_path, x);
    if (r < 0)
        return r;
    if (json_is(host, JSON_STRING))
        return mounts_allowed_path(m, json_text(host).p, &mount->host_path);
    r = files_from_json(files, &v, m->err);
    if (r < 0)
        return r;
    mount->files = builder_keep(m, v);
    mount->n_files = json_count(files);
    return mount->files ? 0 : builder_no_memory(m);
}

int
builder_mounts(struct builder *m)
{
    const struct json *v = config_value(m->config, "mounts");

    JSON_EACH(x, v) {
        int r = mounts_add_one(m, x);
        if (r < 0)
            return r;
    }
    return 0;
}

/* --- Python packages */

struct files {
    struct wsand_file *v;
    size_t n;
};

/* Adds the metadata that pip reads. */
static int
mounts_add_metadata(struct builder *m, const struct extension *e,
                    const struct json *package, struct files *f)
{
    const struct json *summary = json_get(package, "summary");
    const char *version = json_text(json_get(package, "version")).p;
    char *path =
        builder_printf(m, "%s-%s.dist-info/METADATA", e->name, version);
    char *text = builder_printf(
        m, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s%s%s", e->name,
        version, summary ? "Summary: " : "",
        json_is(summary, JSON_STRING) ? json_text(summary).p : "",
        summary ? "\n" : "");

    if (!path || !text)
        return builder_no_memory(m);
    f->v[f->n++] = (struct wsand_file){path, text, strlen(text)};
    path = builder_printf(m, "%s-%s.dist-info/INSTALLER", e->name, version);
    if (!path)
        return builder_no_memory(m);
    f->v[f->n++] = (struct wsand_file){path, "wasmsand\n", 9};
    return 0;
}

/* The metadata makes `pip list` and `pip show` know the package. */
static int
mounts_add_package(struct builder *m, const struct extension *e,
                   const struct json *package, struct files *f)
{
    const struct json *files = json_get(package, "files");
    size_t n = f->n + json_count(files) + 2;
    struct wsand_file *v = realloc(f->v, n * sizeof *v);

    if (!v)
        return builder_no_memory(m);
    f->v = v;
    JSON_EACH_KEY(key, files) {
        struct text t = json_value(key)->text;
        char *path = builder_printf(m, "%s/%s", e->name, key->text.p);
        if (!path)
            return builder_no_memory(m);
        v[f->n++] = (struct wsand_file){path, t.p, t.len};
    }
    return mounts_add_metadata(m, e, package, f);
}

/* All packages are in one mount, which is only added if there is a package. */
int
builder_python(struct builder *m)
{
    const struct sandbox_config *c = m->config;
    struct files f = {0};
    int r = 0;

    for (size_t i = 0; i < c->n_extensions && r == 0; i++) {
        const struct extension *e = &c->extensions[i];
        const struct json *package = json_get(e->json, "pythonPackage");
        if (json_is(package, JSON_OBJECT))
            r = mounts_add_package(m, e, package, &f);
    }
    if (f.v && !builder_keep(m, f.v))
        return builder_no_memory(m);
    if (r < 0 || !f.n)
        return r;
    struct wsand_mount *mount = mounts_add(m, "/usr/lib/python");
    if (!mount)
        return builder_no_memory(m);
    mount->files = f.v;
    mount->n_files = f.n;
    return 0;
}
