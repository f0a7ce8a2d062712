/* Exports: files as a layer over the root image, and the shell as a script.
 *
 * An export must be readable by later versions and by other tools. The files
 * are therefore an ordinary layer of an OCI image. The shell's memory would
 * only fit the same build of bash, so its state is a script that a new shell
 * runs.
 *
 * An import is first done in a draft, a separate sandbox. The state of the
 * draft then replaces that of the sandbox, so that an error changes nothing. */
#include "lib/export.h"

#include "base/base64.h"
#include "base/json.h"
#include "host/tar.h"
#include "kernel/kernel.h"
#include "kernel/vfs/shmem.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/shell_script.h"
#include "lib/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EXPORT_VERSION = 1 };

/* The name of the manifest, a file of the layer that the import does not
 * create. */
static const char manifest_name[] = ".wasmsand.json";

/* --- the manifest: an object of numbers and of strings in base64 */

static void
export_manifest_put_bytes(struct buf *b, const char *key,
                          const struct buf *value)
{
    buf_printf(b, ",\n \"%s\": \"", key);
    base64_put(b, value->p, value->len);
    buf_puts(b, "\"");
}

void
export_put_manifest(struct buf *b, const struct shell_script *s)
{
    buf_printf(b, "{\"version\": %d,\n \"status\": %d", EXPORT_VERSION,
               s->status);
    export_manifest_put_bytes(b, "env", &s->env);
    export_manifest_put_bytes(b, "shell", &s->first);
    export_manifest_put_bytes(b, "shell_last", &s->last);
    buf_puts(b, "}\n");
}

/* Appends the decoded bytes of a string to a buffer; a missing member counts as
 * empty. Returns false if the bytes are not base64. */
static bool
export_manifest_get_bytes(const struct json *v, struct buf *to)
{
    struct text t = json_text(v);
    char *at = t.p ? buf_room(to, BASE64_BYTES(t.len) + 1) : NULL;
    size_t n = 0;

    if (at && base64_decode(t.p, t.len, at, &n) < 0)
        return false;
    to->len += n;
    return !v || t.p;
}

/* True if the manifest has no other members: a member of a later version might
 * matter. */
static bool
export_manifest_is_known(const struct json *manifest)
{
    static const char *const names[] = {"version", "status", "env", "shell",
                                        "shell_last"};
    size_t n = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        n += json_get(manifest, names[i]) != NULL;
    return json_is(manifest, JSON_OBJECT) && manifest->n == n;
}

/* A manifest of another version is reported as such, before its members are
 * checked. */
static int
export_manifest_take(const struct json *manifest, struct shell_script *s,
                     struct wsand_error *err)
{
    const struct json *version = json_get(manifest, "version");
    const struct json *status = json_get(manifest, "status");
    bool has_version = version && version->type == JSON_INTEGER;
    int64_t code = status ? status->integer : 0;

    if (has_version && version->integer != EXPORT_VERSION)
        return error_set(err, EINVAL, "export of version %lld instead of %d",
                         (long long)version->integer, EXPORT_VERSION);
    if (!export_manifest_is_known(manifest) || !has_version ||
        (status && status->type != JSON_INTEGER) || code < 0 || code > 255 ||
        !export_manifest_get_bytes(json_get(manifest, "env"), &s->env) ||
        !export_manifest_get_bytes(json_get(manifest, "shell"), &s->first) ||
        !export_manifest_get_bytes(json_get(manifest, "shell_last"), &s->last))
        return error_set(err, EINVAL, "%s is damaged", manifest_name);
    s->status = (int)code;
    int e = s->env.error ? s->env.error : s->first.error;
    e = e ? e : s->last.error;
    return e ? error_errno(err, -e, "%s", manifest_name) : 0;
}

int
export_get_manifest(const char *text, size_t len, struct shell_script *s,
                    struct wsand_error *err)
{
    CLEANUP(json_fini) struct json_doc manifest = {0};
    struct json_fault fault;

    int r = json_read_copy(&manifest, text, len, &fault);
    if (r == -EINVAL)
        return error_set(err, EINVAL, "%s is damaged", manifest_name);
    if (r < 0)
        return error_errno(err, -r, "%s", manifest_name);
    return export_manifest_take(manifest.v, s, err);
}

/* --- trees */

/* Returns the base of layers: the root image, or an empty tree. */
static int
export_base_tree(const struct root_image *i, struct tree *ret)
{
    const struct quota all = {UINT64_MAX, UINT64_MAX};

    return i->image ? tree_clone(image_tree(i->image), ret)
                    : tree_init(ret, &all, 0);
}

/* The tree records which of its two quotas was exceeded. */
int
export_layer_error(const struct kernel *k, const struct tree *t, int r,
                   const struct image_error *why, struct wsand_error *err)
{
    const uint64_t *max = k->limits.max;

    if (r == -EINVAL)
        return error_set(err, EINVAL, "%s", why->reason);
    if (r == -ENOSPC && t->hit_inodes)
        return error_limit(err, "file count", max[LIMIT_files]);
    if (r == -ENOSPC)
        return error_limit(err, "file bytes", max[LIMIT_file_bytes]);
    return error_errno(err, -r, "files");
}

/* --- export */

/* The base is the tree that an import will start from: the root image as it is,
 * without programs that the options have added. */
static int
export_write(struct wsand_sandbox *sb, const struct shell_script *s,
             struct buf *out, struct wsand_error *err)
{
    CLEANUP(tree_fini) struct tree base = {0};
    CLEANUP(buf_fini) struct buf text;
    const struct tree *t = tmpfs_tree(mount_root(&sb->kernel->vfs)->fs);
    struct image_error why = {0};

    buf_init(&text, SIZE_MAX);
    export_put_manifest(&text, s);
    struct layer_manifest manifest = {
        .name = manifest_name, .data = text.p, .len = text.len};
    int r = text.error;
    shmem_sync_all(mount_root(&sb->kernel->vfs)->fs);
    if (r == 0)
        r = export_base_tree(sb->image, &base);
    if (r == 0)
        r = tar_write(&base, t, &manifest, out, &why);
    return r < 0 ? export_layer_error(sb->kernel, t, r, &why, err) : 0;
}

int
wsand_export(struct wsand_sandbox *sb, void **ret_data, size_t *ret_len,
             struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    CLEANUP(shell_script_fini) struct shell_script s;
    CLEANUP(buf_fini) struct buf out;

    shell_script_init(&s);
    buf_init(&out, SIZE_MAX);
    int r = sb->image->image ? shell_script_take(sb, &s, err) : 0;
    if (r == 0)
        r = export_write(sb, &s, &out, err);
    if (r < 0)
        return r;
    *ret_len = out.len;
    *ret_data = buf_steal(&out);
    return 0;
}

/* --- import */

/* Applies the layer to the root image. Its limit is the sandbox's, without the
 * part that other mounts use of it. */
static int
export_read(struct wsand_sandbox *sb, const void *data, size_t len,
            struct tree *ret, struct shell_script *s, struct wsand_error *err)
{
    const struct tree *current = tmpfs_tree(mount_root(&sb->kernel->vfs)->fs);
    struct quota all = tree_used(current);
    struct layer_manifest manifest = {.name = manifest_name};
    struct image_error why = {0};

    int r = export_base_tree(sb->image, ret);
    if (r < 0)
        return error_errno(err, -r, "files");
    ret->max = (struct quota){
        current->max.bytes - (all.bytes - current->used.bytes),
        current->max.inodes - (all.inodes - current->used.inodes)};
    r = tar_apply(data, len, ret, &manifest, &why);
    if (r < 0)
        r = export_layer_error(sb->kernel, ret, r, &why, err);
    else if (!manifest.data)
        r = error_set(err, EINVAL, "not an export: there is no %s",
                      manifest_name);
    else
        r = export_get_manifest(manifest.data, manifest.len, s, err);
    free(manifest.data);
    return r;
}

/* Only the last step changes the sandbox. */
int
wsand_import(struct wsand_sandbox *sb, const void *data, size_t len,
             struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    CLEANUP(shell_script_fini) struct shell_script s;
    CLEANUP(tree_fini) struct tree t = {0};
    struct wsand_sandbox *draft = NULL;

    shell_script_init(&s);
    int r = export_read(sb, data, len, &t, &s, err);
    if (r == 0)
        r = sandbox_draft(sb, &t, &draft, err);
    if (r == 0 && draft->image->image)
        r = shell_script_run(draft, &s, err);
    if (r == 0)
        r = snapshot_replace(sb, draft, err);
    wsand_sandbox_free(draft);
    return r;
}
