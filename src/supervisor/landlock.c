/* Landlock: a second wall behind the mounts. */
#include "supervisor/landlock.h"

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
    SCOPE_ABSTRACT_UNIX = 1 << 0,
    SCOPE_SIGNAL = 1 << 1,
    SCOPE_VERSION = 6,
};

struct ruleset {
    uint64_t fs, net, scoped;
};

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

/* All rights to change something: write, and from remove to make. */
static uint64_t
changes(int version)
{
    uint64_t rights = FS_WRITE_FILE;

    for (uint64_t r = FS_REMOVE_DIR; r <= FS_MAKE_SYM; r <<= 1)
        rights |= r;
    if (version >= 2)
        rights |= FS_REFER;
    if (version >= 3)
        rights |= FS_TRUNCATE;
    return rights;
}

static int
allow(int ruleset_hfd, const char *path, uint64_t rights)
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

int
landlock_restrict(const char *const *writable)
{
    int version = landlock_version(), r = 0;
    struct ruleset set = {.fs = changes(version)};
    size_t size = offsetof(struct ruleset, net);

    if (!version)
        return 0;
    if (version >= SCOPE_VERSION) {
        set.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
        size = sizeof set;
    }
    CLEANUP(hfd_closep)
    int hfd = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
    if (hfd < 0)
        return -errno;
    for (; *writable && r == 0; writable++)
        r = allow(hfd, *writable, set.fs);
    if (r == 0 && syscall(SYS_landlock_restrict_self, hfd, 0) < 0)
        r = -errno;
    return r;
}
