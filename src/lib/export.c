/* Exports: files as a layer over the root image, and the shell as a script.
 *
 * The shell reports its state as a script, which a new shell runs. An import is
 * first done in a separate sandbox; its state then replaces that of the
 * sandbox, so that an error changes nothing. */
#include "lib/export.h"

#include "base/base64.h"
#include "host/tar.h"
#include "kernel/kernel.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/shell_script.h"
#include "lib/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EXPORT_VERSION = 1 };

static const char note_name[] = ".wasmsand.json";

/* --- the note: an object of numbers and of strings in base64 */

static void
put_string(struct buf *b, const char *key, const struct buf *value)
{
    buf_printf(b, ",\n \"%s\": \"", key);
    base64_put(b, value->p, value->len);
    buf_puts(b, "\"");
}

void
note_put(struct buf *b, const struct shell_script *s)
{
    buf_printf(b, "{\"version\": %d,\n \"status\": %d", EXPORT_VERSION,
               s->status);
    put_string(b, "env", &s->env);
    put_string(b, "shell", &s->first);
    put_string(b, "shell_last", &s->last);
    buf_puts(b, "}\n");
}

/* Decodes up to the closing quote. */
static const char *
get_base64(const char *p, struct buf *to)
{
    size_t len = strcspn(p, "\""), n;
    char *at = buf_room(to, BASE64_BYTES(len) + 1);

    if (!p[len] || !at || base64_decode(p, len, at, &n) < 0)
        return NULL;
    to->len += n;
    return p + len + 1;
}

static const char *
skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* One "key": value; what is behind it, or NULL. */
static const char *
get_pair(const char *p, struct shell_script *s, int *version)
{
    const struct {
        const char *key;
        struct buf *string;
        int *number;
    } members[] = {{"version\"", NULL, version},
                   {"status\"", NULL, &s->status},
                   {"env\"", &s->env, NULL},
                   {"shell\"", &s->first, NULL},
                   {"shell_last\"", &s->last, NULL}};

    for (size_t i = 0; *p == '"' && i < sizeof members / sizeof *members; i++) {
        size_t n = strlen(members[i].key);
        if (strncmp(p + 1, members[i].key, n) != 0)
            continue;
        p = skip_space(p + 1 + n);
        if (*p != ':')
            return NULL;
        p = skip_space(p + 1);
        if (members[i].string)
            return *p == '"' && !members[i].string->len
                       ? get_base64(p + 1, members[i].string)
                       : NULL;
        n = strspn(p, "0123456789");
        if (!n || n > 6)
            return NULL;
        *members[i].number = atoi(p);
        return p + n;
    }
    return NULL;
}

int
note_get(const char *text, size_t len, struct shell_script *s,
         struct wsand_error *err)
{
    const char *p = skip_space(text);
    int version = 0;

    if (strlen(text) != len || *p != '{')
        p = NULL;
    while (p && *p != '}') {
        p = get_pair(skip_space(p + 1), s, &version);
        p = p ? skip_space(p) : NULL;
        if (p && *p != ',' && *p != '}')
            p = NULL;
    }
    int e = s->env.error ? s->env.error : s->first.error;
    e = e ? e : s->last.error;
    if (e)
        return error_errno(err, -e, "%s", note_name);
    if (p && version != EXPORT_VERSION)
        return error_set(err, EINVAL, "export of version %d instead of %d",
                         version, EXPORT_VERSION);
    if (!p || *skip_space(p + 1) || s->status > 255)
        return error_set(err, EINVAL, "%s is damaged", note_name);
    return 0;
}

/* --- trees */

/* Returns the base of layers: the root image, or an empty tree. */
static int
base_tree(const struct wsand_runtime *rt, struct tree *ret)
{
    const struct quota all = {UINT64_MAX, UINT64_MAX};

    return rt->image ? tree_clone(image_tree(rt->image), ret)
                     : tree_init(ret, &all, 0);
}

int
layer_error(const struct kernel *k, const struct tree *t, int r,
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

static int
write_export(struct wsand_sandbox *sb, const struct shell_script *s,
             struct buf *out, struct wsand_error *err)
{
    CLEANUP(tree_fini) struct tree base = {0};
    CLEANUP(buf_fini) struct buf text;
    const struct tree *t = tmpfs_tree(mount_root(sb->kernel)->fs);
    struct image_error why = {0};

    buf_init(&text, SIZE_MAX);
    note_put(&text, s);
    struct layer_note note = {
        .name = note_name, .data = text.p, .len = text.len};
    int r = text.error;
    if (r == 0)
        r = base_tree(sb->runtime, &base);
    if (r == 0)
        r = tar_write(&base, t, &note, out, &why);
    return r < 0 ? layer_error(sb->kernel, t, r, &why, err) : 0;
}

int
wsand_export(struct wsand_sandbox *sb, void **ret_data, size_t *ret_len,
             struct wsand_error *err)
{
    SANDBOX_TURN(sb, err);
    CLEANUP(shell_script_fini) struct shell_script s;
    CLEANUP(buf_fini) struct buf out;

    shell_script_init(&s);
    buf_init(&out, SIZE_MAX);
    int r = sb->runtime->image ? shell_script_take(sb, &s, err) : 0;
    if (r == 0)
        r = write_export(sb, &s, &out, err);
    if (r < 0)
        return r;
    *ret_len = out.len;
    *ret_data = buf_steal(&out);
    return 0;
}

/* --- import */

/* Applies the layer to the root image, within the sandbox's limits. */
static int
read_export(struct wsand_sandbox *sb, const void *data, size_t len,
            struct tree *ret, struct shell_script *s, struct wsand_error *err)
{
    const struct tree *own = tmpfs_tree(mount_root(sb->kernel)->fs);
    struct quota all = tree_used(own);
    struct layer_note note = {.name = note_name};
    struct image_error why = {0};

    int r = base_tree(sb->runtime, ret);
    if (r < 0)
        return error_errno(err, -r, "files");
    ret->max =
        (struct quota){own->max.bytes - (all.bytes - own->used.bytes),
                       own->max.inodes - (all.inodes - own->used.inodes)};
    r = tar_apply(data, len, ret, &note, &why);
    if (r < 0)
        r = layer_error(sb->kernel, ret, r, &why, err);
    else if (!note.data)
        r = error_set(err, EINVAL, "not an export: there is no %s", note_name);
    else
        r = note_get(note.data, note.len, s, err);
    free(note.data);
    return r;
}

int
wsand_import(struct wsand_sandbox *sb, const void *data, size_t len,
             struct wsand_error *err)
{
    SANDBOX_TURN(sb, err);
    CLEANUP(shell_script_fini) struct shell_script s;
    CLEANUP(tree_fini) struct tree t = {0};
    struct wsand_sandbox *draft = NULL;

    shell_script_init(&s);
    int r = read_export(sb, data, len, &t, &s, err);
    if (r == 0)
        r = sandbox_draft(sb, &t, &draft, err);
    if (r == 0 && draft->runtime->image)
        r = shell_script_run(draft, &s, err);
    if (r == 0)
        r = snapshot_replace(sb, draft, err);
    wsand_sandbox_free(draft);
    return r;
}
