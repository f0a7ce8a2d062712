/* The mounts of a sandbox. Their order is part of the durable state, and forks
 * repeat it: system file systems, writable folders, then the mounts of the
 * host. */
#include "lib/mounts.h"

#include "host/hostfs.h"
#include "kernel/devfs.h"
#include "kernel/kernel.h"
#include "kernel/proc/procfs.h"
#include "kernel/shmfs.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/error.h"
#include "lib/files.h"
#include "lib/options.h"
#include "lib/sandbox.h"
#include "lib/skeleton.h"
#include "lib/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Mounts a new file system, which it consumes; `r` is the result of creating
 * it. */
static int
mount_new_fs(struct kernel *k, const char *path, const char *source, int r,
             OWN struct fs *fs, bool read_only, struct wsand_error *err)
{
    if (r == 0)
        r = mount_add(&k->vfs, path, source, fs, read_only);
    return r < 0 ? error_errno(err, -r, "cannot mount %s", path) : 0;
}

/* /dev, /proc and /dev/shm exist in every sandbox. The last one has the files
 * of the snapshot, if there is one. */
static int
mount_system(struct kernel *k, const struct snapshot *from,
             struct wsand_error *err)
{
    struct fs *dev = NULL, *proc = NULL;

    int r = devfs_new(k, &dev);
    r = mount_new_fs(k, "/dev", "dev", r, dev, false, err);
    if (r < 0)
        return r;
    r = procfs_new(k, &proc);
    r = mount_new_fs(k, "/proc", "proc", r, proc, false, err);
    if (r < 0)
        return r;
    r = shmfs_mount(k, from ? snapshot_tree(from, MOUNT_MEMORY) : NULL);
    return r < 0 ? error_errno(err, -r, "cannot mount /dev/shm") : 0;
}

/* Mounts /sys only over a folder that the root image has: creating one would
 * use up one of the files that the sandbox may have. */
static int
mount_sys(struct kernel *k, struct wsand_error *err)
{
    const struct at at = {.vfs = &k->vfs, .path = "/sys"};
    struct fs *sys = NULL;
    struct walk w;

    if (path_walk(&at, WALK_DIRECTORY, &w) < 0 ||
        w.node.mnt != mount_root(&k->vfs))
        return 0;
    int r = sysfs_new(k, &sys);
    r = mount_new_fs(k, "/sys", "sysfs", r, sys, true, err);
    if (r == 0)
        mount_keep_last(&k->vfs);
    return r;
}

/* --- the folders that may be written */

/* True if everything is writable. */
static bool
mounts_has_root(const char *const *paths)
{
    for (; *paths; paths++)
        if (!strcmp(*paths, "/"))
            return true;
    return false;
}

/* A writable folder is a bind mount of itself, below a root that is
 * read-only. */
static int
mount_writable(struct kernel *k, const char *const *paths,
               struct wsand_error *err)
{
    for (; *paths; paths++) {
        if (**paths != '/')
            return error_set(err, EINVAL,
                             "writable path %s: not an absolute path", *paths);
        int r = mount_bind(&k->vfs, *paths, k->user.uid);
        if (r < 0)
            return error_errno(err, -r, "writable path %s", *paths);
    }
    return 0;
}

/* --- mounts of the host */

/* Returns the limits of a mounted host folder: its own, or else those of the
 * sandbox. */
static struct quota
mounts_limit_of(const struct wsand_sandbox *sb, const char *guest_path)
{
    const struct wsand_options *o = &sb->options;
    const uint64_t *max = sb->kernel->limits.max;
    struct quota q = {max[LIMIT_file_bytes], max[LIMIT_files]};

    for (size_t i = 0; i < o->n_mount_limits; i++) {
        const struct wsand_mount_limit *l = &o->mount_limits[i];
        if (strcmp(l->guest_path, guest_path) != 0)
            continue;
        q.bytes = l->bytes ? l->bytes : q.bytes;
        q.inodes = l->files ? l->files : q.inodes;
    }
    return q;
}

/* The folder is opened once, here. Everything in it is later opened relative to
 * that descriptor. */
static int
mount_host(struct wsand_sandbox *sb, const struct wsand_mount *m,
           struct wsand_error *err)
{
    const struct quota max = mounts_limit_of(sb, m->guest_path);
    struct kernel *k = sb->kernel;
    struct fs *fs = NULL;

    int hfd = open(m->host_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (hfd < 0)
        return error_errno(err, errno, "mount %s", m->host_path);
    int r = hostfs_new(k, hfd, !m->is_writable, &fs);
    if (r == 0)
        hostfs_limit(fs, &max);
    /* The path on the host is none of the guest's business. */
    return mount_new_fs(k, m->guest_path, "host", r, fs, !m->is_writable, err);
}

/* Programs and scripts may be executed. */
static uint32_t
mounts_mode_for(const struct wsand_file *f)
{
    bool is_program = f->len >= 4 && (!memcmp(f->data, "\0asm", 4) ||
                                      !memcmp(f->data, "#!", 2));

    return S_IFREG | (is_program ? 0755 : 0644);
}

/* Accepts only a relative path without "." and "..", so that no file lands
 * outside of the mount. */
static int
mounts_check_path(const char *path, struct wsand_error *err)
{
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, "/");
        if (!n || n > NAME_BYTES_MAX || (n == 1 && *p == '.') ||
            (n == 2 && !memcmp(p, "..", 2)))
            return error_set(err, EINVAL,
                             "not a path below the folder of the mount: %s",
                             path);
        p += n;
        if (!*p)
            return 0;
    }
}

/* Creates the files of a mount. Files of a read-only mount are not charged,
 * because the guest cannot do anything about them. */
static int
mounts_put_files(const struct kernel *k, struct tree *t,
                 const struct wsand_mount *m, struct wsand_error *err)
{
    int64_t now = clock_real_ns(&k->clock);

    for (size_t i = 0; i < m->n_files; i++) {
        const struct wsand_file *f = &m->files[i];
        const struct attr a = {
            .mode = mounts_mode_for(f), .uid = k->user.uid, .gid = k->user.gid};
        int r = mounts_check_path(f->path, err);
        if (r < 0)
            return r;
        uint64_t ino;
        r = skeleton_put_file(t, f->path, f->data, f->len, &a, now, &ino);
        if (r < 0)
            return error_path(err, -r, f->path);
    }
    if (!m->is_writable)
        tree_uncharge(t);
    return 0;
}

static int
mounts_make_tree(const struct kernel *k, const struct wsand_mount *m,
                 struct tree *ret, struct wsand_error *err)
{
    const struct quota unlimited = {UINT64_MAX, UINT64_MAX};
    const struct attr user = {.uid = k->user.uid, .gid = k->user.gid};
    int64_t now = clock_real_ns(&k->clock);

    int r = tree_init(ret, &unlimited, now);
    if (r == 0)
        r = tree_setattr(ret, TREE_ROOT, &user, ATTR_UID | ATTR_GID, now);
    return r < 0 ? error_errno(err, -r, "cannot create files")
                 : mounts_put_files(k, ret, m, err);
}

/* Checks whether the files, beside those that exist, exceed the limits. */
static int
mounts_check_quota(struct kernel *k, const struct tree *t,
                   struct wsand_error *err)
{
    const struct quota used = tree_used(tmpfs_tree(mount_root(&k->vfs)->fs));
    const uint64_t *max = k->limits.max;

    if (used.inodes + t->used.inodes > max[LIMIT_files])
        return error_limit(err, "file count", max[LIMIT_files]);
    if (used.bytes + t->used.bytes > max[LIMIT_file_bytes])
        return error_limit(err, "file bytes", max[LIMIT_file_bytes]);
    return 0;
}

/* A writable mount shares the quota of the root (tree_join). */
static int
mount_tree(struct kernel *k, const struct wsand_mount *m, const struct tree *t,
           struct wsand_error *err)
{
    const uint64_t *max = k->limits.max;
    struct fs *fs = NULL;

    int r = m->is_writable ? mounts_check_quota(k, t, err) : 0;
    if (r < 0)
        return r;
    r = tmpfs_new(&k->vfs, t, max[LIMIT_file_bytes], max[LIMIT_files], &fs);
    if (r == 0) {
        struct tree *own = tmpfs_tree(fs),
                    *root = tmpfs_tree(mount_root(&k->vfs)->fs);
        fs->dev = ++k->vfs.next_dev;
        own->seed = root->seed;
        if (m->is_writable)
            tree_join(own, root);
    }
    return mount_new_fs(k, m->guest_path, "files", r, fs, !m->is_writable, err);
}

static int
mount_files(struct kernel *k, const struct wsand_mount *m,
            struct wsand_error *err)
{
    CLEANUP(tree_fini) struct tree t = {0};

    int r = mounts_make_tree(k, m, &t, err);
    return r < 0 ? r : mount_tree(k, m, &t, err);
}

/* Refuses a path at which something is mounted. Writable folders are mounts of
 * ours, which the user does not know of. */
static int
mounts_check_point(struct kernel *k, const char *path, struct wsand_error *err)
{
    const struct at at = {.vfs = &k->vfs, .path = path};
    struct walk w;

    if (path[0] != '/')
        return error_set(err, EINVAL, "mount %s: not an absolute path", path);
    if (path_walk(&at, 0, &w) < 0 || w.node.ino != w.node.mnt->root ||
        w.node.mnt->is_bind)
        return 0;
    return error_set(err, EBUSY, "something is mounted there: %s", path);
}

/* A mount of the host has no files in a snapshot: forks share the folder
 * itself. Other mounts start with the files of the snapshot, if there is
 * one. */
static int
mount_one(struct wsand_sandbox *sb, const struct wsand_mount *m,
          const struct snapshot *from, struct wsand_error *err)
{
    struct kernel *k = sb->kernel;
    int r = mounts_check_point(k, m->guest_path, err);

    if (r < 0)
        return r;
    if (m->host_path)
        return mount_host(sb, m, err);
    if (from)
        return mount_tree(k, m, snapshot_tree(from, mount_count(&k->vfs)), err);
    return mount_files(k, m, err);
}

/* The root becomes read-only at the end, because mount points may have to be
 * created in it. */
int
mounts_make(struct wsand_sandbox *sb, const struct wsand_mount *v,
            const struct snapshot *from, struct wsand_error *err)
{
    const struct wsand_options *o = &sb->options;
    struct kernel *k = sb->kernel;

    int r = mount_system(k, from, err);
    bool is_limited = o->writable_paths && !mounts_has_root(o->writable_paths);
    if (r == 0 && is_limited)
        r = mount_writable(k, o->writable_paths, err);
    for (size_t i = 0; r == 0 && i < o->n_mounts; i++)
        r = mount_one(sb, v ? &v[i] : &o->mounts[i], from, err);
    mount_root(&k->vfs)->read_only = is_limited;
    return r < 0 ? r : mount_sys(k, err);
}

/* The option is added first, because that can fail without leaving a mount that
 * forks would not have. */
int
wsand_mount(struct wsand_sandbox *sb, const struct wsand_mount *m,
            struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    int r = options_add_mount(&sb->options, m);
    if (r < 0)
        return error_set(err, ENOMEM, "out of memory");
    r = mount_one(sb, m, NULL, err);
    if (r < 0)
        options_drop_mount(&sb->options);
    return r;
}
