/* The mounts of a sandbox, in this order, which its forks repeat: system file
 * systems, the folders that may be written, those of the host's asking. */
#include "lib/files.h"
#include "lib/lib.h"

#include "kernel/kernel.h"
#include "kernel/vfs/devfs.h"
#include "kernel/vfs/hostfs.h"
#include "kernel/vfs/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int
mount_new_fs(struct kernel *k, const char *path, const char *source, int r,
             OWN struct fs *fs, bool read_only, struct wsand_error *err)
{
    if (r == 0)
        r = mount_add(k, path, source, fs, read_only);
    return r < 0 ? error_errno(err, -r, "cannot mount %s", path) : 0;
}

static int
mount_system(struct kernel *k, struct wsand_error *err)
{
    struct fs *dev = NULL, *proc = NULL;

    int r = devfs_new(k, &dev);
    r = mount_new_fs(k, "/dev", "dev", r, dev, false, err);
    if (r < 0)
        return r;
    r = procfs_new(k, &proc);
    return mount_new_fs(k, "/proc", "proc", r, proc, false, err);
}

/* --- the folders that may be written */

/* Is everything writable? */
static bool
has_root(const char *const *paths)
{
    for (; *paths; paths++)
        if (!strcmp(*paths, "/"))
            return true;
    return false;
}

static int
mount_writable(struct kernel *k, const char *const *paths,
               struct wsand_error *err)
{
    for (; *paths; paths++) {
        if (**paths != '/')
            return error_set(err, EINVAL,
                             "writable path %s: not an absolute path", *paths);
        int r = mount_bind(k, *paths, USER_ID);
        if (r < 0)
            return error_errno(err, -r, "writable path %s", *paths);
    }
    return 0;
}

/* --- what the host asks for */

static int
mount_host(struct kernel *k, const struct wsand_mount *m,
           struct wsand_error *err)
{
    struct fs *fs = NULL;

    int hfd = open(m->host_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (hfd < 0)
        return error_errno(err, errno, "mount %s", m->host_path);
    int r = hostfs_new(k, hfd, !m->is_writable, &fs);
    /* Where it lies on the host is not the guest's business. */
    return mount_new_fs(k, m->guest_path, "host", r, fs, !m->is_writable, err);
}

static int
mount_one(struct kernel *k, const struct wsand_mount *m,
          struct wsand_error *err)
{
    if (m->guest_path[0] != '/')
        return error_set(err, EINVAL, "mount %s: not an absolute path",
                         m->guest_path);
    return mount_host(k, m, err);
}

int
mounts_make(struct wsand_sandbox *sb, struct wsand_error *err)
{
    const struct wsand_options *o = &sb->options;
    struct kernel *k = sb->kernel;

    int r = mount_system(k, err);
    bool is_limited = o->writable_paths && !has_root(o->writable_paths);
    if (r == 0 && is_limited)
        r = mount_writable(k, o->writable_paths, err);
    for (size_t i = 0; r == 0 && i < o->n_mounts; i++)
        r = mount_one(k, &o->mounts[i], err);
    mount_root(k)->read_only = is_limited;
    return r;
}
