/* The /proc of a jail: its processes, and the names that programs need.
 *
 * A procfs has all names of the kernel or, mounted with subset=pid, only
 * processes, and files cannot be added to it. Therefore every other name is
 * covered by an empty file or folder that nobody may open. */
#include "supervisor/jail/proc.h"

#include "base/own.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define COVER_FILE   "/cover"
#define COVER_FOLDER "/cover.d"

/* The names beside processes that programs need. They show figures of the host,
 * but nothing that identifies it. */
static const char *const shown[] = {
    "self",    "thread-self", "sys",     "cpuinfo", "meminfo",     "stat",
    "loadavg", "uptime",      "version", "mounts",  "filesystems", "net",
};

static void
proc_closedirp(DIR **d)
{
    if (*d)
        (void)closedir(*d);
}

/* A bind mount of the path on itself, read-only. */
static int
proc_make_read_only(const char *path)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY |
                                          MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                          MOUNT_ATTR_NOEXEC};

    if (mount(path, path, NULL, MS_BIND, NULL) < 0 ||
        mount_setattr(AT_FDCWD, path, 0, &attr, sizeof attr) < 0)
        return -errno;
    return 0;
}

/* Creates an empty file and an empty folder that nobody may open: their mode is
 * 0, and on a read-only mount not even their owner can change it. */
static int
proc_make_covers(void)
{
    if (mknod(COVER_FILE, S_IFREG, 0) < 0 || mkdir(COVER_FOLDER, 0) < 0)
        return -errno;
    int r = proc_make_read_only(COVER_FILE);
    return r < 0 ? r : proc_make_read_only(COVER_FOLDER);
}

/* The bind mounts keep the covers alive without their names. */
static int
proc_remove_covers(void)
{
    if (umount2(COVER_FILE, MNT_DETACH) < 0 || unlink(COVER_FILE) < 0 ||
        umount2(COVER_FOLDER, MNT_DETACH) < 0 || rmdir(COVER_FOLDER) < 0)
        return -errno;
    return 0;
}

/* Links are left alone: they lead to a name that is covered itself, or to a
 * process. */
static bool
proc_is_shown(const struct dirent *entry)
{
    const char *name = entry->d_name;

    if (*name == '.' || isdigit((unsigned char)*name) ||
        entry->d_type == DT_LNK)
        return true;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (!strcmp(name, shown[i]))
            return true;
    return false;
}

static int
proc_cover(const struct dirent *entry)
{
    const char *with = entry->d_type == DT_DIR ? COVER_FOLDER : COVER_FILE;
    char path[sizeof entry->d_name + sizeof "/proc/"];

    (void)snprintf(path, sizeof path, "/proc/%s", entry->d_name);
    if (mount(with, path, NULL, MS_BIND, NULL) == 0)
        return 0;
    return errno == ENOENT ? 0 : -errno; /* of a module that was unloaded */
}

/* readdir returns NULL for the end and for an error, which errno
 * distinguishes. */
static int
proc_cover_others(void)
{
    CLEANUP(proc_closedirp) DIR *proc = opendir("/proc");
    struct dirent *entry;
    int r = 0;

    if (!proc)
        return -errno;
    while (r == 0 && (errno = 0, entry = readdir(proc)))
        r = proc_is_shown(entry) ? 0 : proc_cover(entry);
    return r < 0 ? r : -errno;
}

int
proc_mount(void)
{
    const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    int r = mount("proc", "/proc", "proc", flags, NULL) < 0 ? -errno : 0;

    if (r == 0)
        r = proc_make_read_only("/proc/sys");
    if (r == 0)
        r = proc_make_covers();
    if (r == 0)
        r = proc_cover_others();
    return r < 0 ? r : proc_remove_covers();
}
