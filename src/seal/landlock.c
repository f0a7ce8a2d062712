/* Landlock: a second barrier behind the mounts.
 *
 * Each version of Landlock knows more rights than the one before. A right that
 * the running kernel does not know makes the call fail, so each set of rights
 * is masked by the version. */
#include "seal/landlock.h"

#include "base/hfd.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's names and numbers; distributions' headers are often older. */
enum {
    CREATE_RULESET_VERSION = 1,
    RULE_PATH_BENEATH = 1,
    FS_WRITE_FILE = 1 << 1,
    FS_REMOVE_DIR = 1 << 4,
    FS_MAKE_SYM = 1 << 12,
    FS_REFER = 1 << 13,    /* version 2 */
    FS_TRUNCATE = 1 << 14, /* version 3 */
    FS_ALL_1 = (1 << 13) - 1,
    FS_IOCTL_DEV = 1 << 15, /* version 5 */
    NET_ALL = 3,            /* version 4: bind and connect, of TCP */
    SCOPE_ABSTRACT_UNIX = 1 << 0,
    SCOPE_SIGNAL = 1 << 1,
    SCOPE_VERSION = 6,
};

/* The kernel's struct landlock_ruleset_attr as of version 6; older versions
 * know its first members only. */
struct ruleset {
    uint64_t fs, net, scoped;
};

/* The kernel's struct landlock_path_beneath_attr. */
struct path_rule {
    uint64_t allowed;
    int32_t parent_hfd;
} __attribute__((packed));

int
landlock_version(void)
{
    long r =
        syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);

    return r < 0 ? 0 : (int)r;
}

/* Returns the rights if this version knows them. */
static uint64_t
landlock_since(int version, int first, uint64_t rights)
{
    return version >= first ? rights : 0;
}

/* Returns all rights to change something: writing, and the range from removing
 * to creating. */
static uint64_t
landlock_changes(int version)
{
    uint64_t rights = FS_WRITE_FILE;

    for (uint64_t r = FS_REMOVE_DIR; r <= FS_MAKE_SYM; r <<= 1)
        rights |= r;
    return rights | landlock_since(version, 2, FS_REFER) |
           landlock_since(version, 3, FS_TRUNCATE);
}

/* Returns the size of the structure that a version knows. */
static size_t
landlock_ruleset_size(int version)
{
    if (version >= SCOPE_VERSION)
        return sizeof(struct ruleset);
    return version >= 4 ? offsetof(struct ruleset, scoped)
                        : offsetof(struct ruleset, net);
}

static int
ruleset_new(const struct ruleset *set, int version)
{
    long hfd = syscall(SYS_landlock_create_ruleset, set,
                       landlock_ruleset_size(version), 0);

    return hfd < 0 ? -errno : (int)hfd;
}

static int
landlock_restrict_self(int ruleset_hfd)
{
    return syscall(SYS_landlock_restrict_self, ruleset_hfd, 0) < 0 ? -errno : 0;
}

static int
landlock_allow(int ruleset_hfd, const char *path, uint64_t rights)
{
    CLEANUP(hfd_closep) int hfd = open(path, O_PATH | O_CLOEXEC);
    struct path_rule rule = {rights, hfd};

    if (hfd < 0)
        return -errno;
    return syscall(SYS_landlock_add_rule, ruleset_hfd, RULE_PATH_BENEATH, &rule,
                   0) < 0
               ? -errno
               : 0;
}

/* Only rights to change files are handled, so reading and executing stay
 * unrestricted: the mounts decide about these. */
int
landlock_restrict(const char *const *writable)
{
    int version = landlock_version(), r = 0;
    const struct ruleset set = {
        .fs = landlock_changes(version),
        .scoped = landlock_since(version, SCOPE_VERSION,
                                 SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL)};

    if (!version)
        return 0;
    CLEANUP(hfd_closep) int hfd = ruleset_new(&set, version);
    if (hfd < 0)
        return hfd;
    for (; *writable && r == 0; writable++)
        r = landlock_allow(hfd, *writable, set.fs);
    return r < 0 ? r : landlock_restrict_self(hfd);
}

/* All rights are handled and no rule allows any, so every opening of a file
 * fails. */
int
landlock_nothing(void)
{
    int version = landlock_version();
    const struct ruleset set = {
        .fs = FS_ALL_1 | landlock_since(version, 2, FS_REFER) |
              landlock_since(version, 3, FS_TRUNCATE) |
              landlock_since(version, 5, FS_IOCTL_DEV),
        .net = landlock_since(version, 4, NET_ALL),
        .scoped = landlock_since(version, SCOPE_VERSION,
                                 SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL)};

    if (!version)
        return 0;
    CLEANUP(hfd_closep) int hfd = ruleset_new(&set, version);
    return hfd < 0 ? hfd : landlock_restrict_self(hfd);
}
