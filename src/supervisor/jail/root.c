/* The root file system of a jail.
 *
 * A small tmpfs becomes the root, with the host's root at /old. Trees of the
 * host are cloned into it, then /old is unmounted and the root made read-only.
 * A second tmpfs, whose size is the disk limit, is mounted at three places. */
#include "supervisor/jail/root.h"

#include "supervisor/jail/options.h"
#include "supervisor/jail/proc.h"

#include "base/hfd.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { INODES_PER_MB = 256, OPEN_TRIES = 1000 };

#define STAGE "/tmp"
#define OLD   "/old"
#define DATA  "/data"

/* Attributes of mounts. Nothing in a jail gains rights by setuid, and only the
 * listed devices work. */
enum {
    SAFE = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
    READ_ONLY = SAFE | MOUNT_ATTR_RDONLY,
    DEVICE = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
};

const char *const root_writable[] = {"/workspace", "/tmp", "/dev", "/proc",
                                     NULL};

/* Trees of the host that are shown if they exist: programs, libraries and their
 * configuration. Nothing here contains secrets or data of users. */
static const char *const host_trees[] = {
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/java-11-openjdk",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/etc/java-25-openjdk",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/perl",
    "/etc/pki",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/terminfo",
    NULL,
};

static const char *const devices[] = {
    "/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
    "/dev/urandom", "/dev/tty",  NULL};

static const char *const folders[] = {
    OLD,        DATA,         "/proc", "/dev", "/dev/pts", "/etc",
    "/dev/shm", "/workspace", "/tmp",  "/var", "/run",     NULL};

/* Parts of the data tmpfs, and the paths at which they are visible. All share
 * one size, which is the disk limit. */
static const struct {
    const char *part, *path;
    mode_t mode;
} parts[] = {
    {DATA "/workspace", "/workspace", 0755},
    {DATA "/tmp", "/tmp", 01777},
    {DATA "/shm", "/dev/shm", 01777},
};

static const struct {
    const char *path, *target;
} links[] = {
    {"/dev/fd", "/proc/self/fd"},
    {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},
    {"/dev/stderr", "/proc/self/fd/2"},
    {"/dev/ptmx", "pts/ptmx"},
    {"/etc/mtab", "/proc/self/mounts"},
    {"/var/tmp", "/tmp"},
};

static const struct {
    const char *path, *text;
} texts[] = {
    {"/etc/passwd", "root:x:0:0:root:/:/usr/sbin/nologin\n"
                    "sandbox:x:1000:1000::/workspace:/bin/sh\n"
                    "nobody:x:65534:65534::/:/usr/sbin/nologin\n"},
    {"/etc/group", "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n"},
    {"/etc/hostname", "sandbox\n"},
};

static int
root_mount_at(const char *type, const char *path, unsigned long flags,
              const char *data)
{
    return mount(type, path, type, flags, data) < 0 ? -errno : 0;
}

/* Creates the folders on the way to `path`. */
static int
root_make_parents(const char *path)
{
    char name[READ_PATH_BYTES];

    (void)snprintf(name, sizeof name, "%s", path);
    for (char *slash = strchr(name + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(name, 0755) < 0 && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return 0;
}

/* Creates a mount point of the right kind: a folder for folders, a file for
 * everything else. */
static int
root_make_mount_point(const char *path, mode_t kind)
{
    int r = root_make_parents(path);

    if (r < 0)
        return r;
    if (S_ISDIR(kind))
        return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
    CLEANUP(hfd_closep)
    int hfd = open(path, O_CREAT | O_RDONLY | O_CLOEXEC, 0644);
    return hfd < 0 ? -errno : 0;
}

/* Shows the tree at `from` once more at `to`, with more restrictive attributes.
 * A clone of the tree is changed before it is attached, so there is no moment
 * in which it is visible without them. */
static int
root_show(int from_hfd, const char *to, uint64_t attributes)
{
    CLEANUP(hfd_closep)
    int tree = open_tree(from_hfd, "",
                         AT_EMPTY_PATH | OPEN_TREE_CLONE | AT_RECURSIVE |
                             OPEN_TREE_CLOEXEC);
    struct mount_attr attr = {.attr_set = attributes};

    if (tree < 0 ||
        mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
                      sizeof attr) < 0 ||
        move_mount(tree, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return -errno;
    return 0;
}

/* Opens a path of the host. RESOLVE_IN_ROOT keeps absolute links inside of the
 * host's tree at /old. */
static int
root_open_old(int old_hfd, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT};
    int tries = OPEN_TRIES;
    long hfd;

    /* EAGAIN: somebody renamed or mounted something while `..` was walked. */
    do
        hfd = syscall(SYS_openat2, old_hfd, path + 1, &how, sizeof how);
    while (hfd < 0 && errno == EAGAIN && --tries);
    return hfd < 0 ? -errno : (int)hfd;
}

/* Links at the top level (/bin) are copied, others followed
 * (/etc/resolv.conf). */
static bool
root_copy_link(int old_hfd, const char *path)
{
    char target[256];

    if (strchr(path + 1, '/'))
        return false;
    ssize_t n = readlinkat(old_hfd, path + 1, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = 0;
    return !symlink(target, path);
}

static int
root_show_host(int old_hfd, const char *path, uint64_t attributes)
{
    struct stat st;

    if (root_copy_link(old_hfd, path))
        return 0;
    CLEANUP(hfd_closep) int hfd = root_open_old(old_hfd, path);
    if (hfd < 0)
        return hfd;
    if (fstat(hfd, &st) < 0)
        return -errno;
    int r = root_make_mount_point(path, st.st_mode);
    return r < 0 ? r : root_show(hfd, path, attributes);
}

/* A path that does not exist is an error only if the user asked for it. */
static int
root_show_all(int old_hfd, const char *const *paths, uint64_t attributes,
              bool optional, const char **ret_where)
{
    for (; *paths; paths++) {
        int r = root_show_host(old_hfd, *paths, attributes);
        if (r < 0 && !(optional && r == -ENOENT)) {
            *ret_where = *paths;
            return r;
        }
    }
    return 0;
}

/* Makes a new tmpfs the root, and keeps the host's root at /old. Private
 * propagation keeps our mounts from appearing on the host. */
static int
root_enter_stage(void)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -errno;
    int r =
        root_mount_at("tmpfs", STAGE, MS_NOSUID | MS_NODEV, "size=1m,mode=755");
    if (r < 0)
        return r;
    if (mkdir(STAGE OLD, 0755) < 0 ||
        syscall(SYS_pivot_root, STAGE, STAGE OLD) < 0 || chdir("/") < 0)
        return -errno;
    return 0;
}

static int
root_write_text(const char *path, const char *text)
{
    CLEANUP(hfd_closep)
    int hfd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

    return hfd < 0 ? -errno : hfd_write_all(hfd, text, strlen(text));
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Creates folders, links and small files. *ret_where names the one that
 * failed. */
static int
root_make_small_things(const char **ret_where)
{
    for (const char *const *f = folders; *(*ret_where = *f, f); f++)
        if (mkdir(*f, 0755) < 0 && errno != EEXIST)
            return -errno;
    for (size_t i = 0; i < COUNT(links); i++)
        if (symlink(links[i].target, *ret_where = links[i].path) < 0)
            return -errno;
    for (size_t i = 0; i < COUNT(texts); i++) {
        int r = root_write_text(*ret_where = texts[i].path, texts[i].text);
        if (r < 0)
            return r;
    }
    return 0;
}

static int
root_show_part(const char *part, mode_t mode, const char *path)
{
    if (mkdir(part, mode) < 0 || chmod(part, mode) < 0)
        return -errno;
    CLEANUP(hfd_closep) int hfd = open(part, O_PATH | O_CLOEXEC);
    return hfd < 0 ? -errno : root_show(hfd, path, SAFE);
}

/* The tmpfs is visible only through its parts: the mount itself is removed. */
static int
root_make_data(uint32_t disk_mb)
{
    char size[64];

    (void)snprintf(size, sizeof size, "size=%um,nr_inodes=%llu,mode=755",
                   disk_mb, (unsigned long long)disk_mb * INODES_PER_MB);
    int r = root_mount_at("tmpfs", DATA, MS_NOSUID | MS_NODEV, size);
    for (size_t i = 0; r == 0 && i < COUNT(parts); i++)
        r = root_show_part(parts[i].part, parts[i].mode, parts[i].path);
    if (r < 0)
        return r;
    return umount2(DATA, MNT_DETACH) < 0 || rmdir(DATA) < 0 ? -errno : 0;
}

/* From here on the host's root is unreachable, and nothing can be added to
 * ours. */
static int
root_leave_old(void)
{
    struct mount_attr attr = {.attr_set = READ_ONLY};

    if (umount2(OLD, MNT_DETACH) < 0 || rmdir(OLD) < 0 ||
        mount_setattr(AT_FDCWD, "/", 0, &attr, sizeof attr) < 0)
        return -errno;
    return 0;
}

/* Fills the root in an order in which each step finds what it needs; the user's
 * own paths come last and may lie in any of the others. */
static int
root_fill(int old_hfd, uint32_t disk_mb, const char *const *read,
          const char **ret_where)
{
    int r = root_make_small_things(ret_where);

    *ret_where = r == 0 ? "/proc" : *ret_where;
    if (r == 0)
        r = proc_mount();
    if (r == 0)
        r = root_mount_at("devpts", *ret_where = "/dev/pts",
                          MS_NOSUID | MS_NOEXEC,
                          "newinstance,ptmxmode=0666,mode=620");
    if (r == 0)
        r = root_show_all(old_hfd, devices, DEVICE, true, ret_where);
    if (r == 0)
        r = root_show_all(old_hfd, host_trees, READ_ONLY, true, ret_where);
    *ret_where = r == 0 ? "/workspace" : *ret_where;
    if (r == 0)
        r = root_make_data(disk_mb);
    if (r == 0)
        r = root_show_all(old_hfd, read, READ_ONLY, false, ret_where);
    return r;
}

int
root_build(uint32_t disk_mb, const char *const *read, const char **ret_where)
{
    *ret_where = "/";
    (void)umask(022);
    int r = root_enter_stage();
    if (r < 0)
        return r;
    CLEANUP(hfd_closep) int old_hfd = open(OLD, O_PATH | O_CLOEXEC);
    if (old_hfd < 0)
        return -errno;
    r = root_fill(old_hfd, disk_mb, read, ret_where);
    if (r < 0)
        return r;
    *ret_where = OLD;
    r = root_leave_old();
    return r < 0 ? r : chdir(root_writable[0]) < 0 ? -errno : 0;
}
