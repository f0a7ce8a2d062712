/* One directory of a hierarchy: created, locked, emptied, removed.
 *
 * The lock (flock) shows that its owner lives: the kernel releases it with the
 * process. A supervisor that starts can therefore tell groups of dead
 * supervisors from those in use, without a file of pids that could be stale. */
#include "supervisor/common/file.h"
#include "supervisor/jail/cgroup_impl.h"

#include "base/hfd.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Names need not be unpredictable, only different from each other, so the pid
 * is good enough without random numbers. */
void
cgroup_group_name(char name[GROUP_NAME_BYTES])
{
    uint64_t number;

    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (uint64_t)getpid();
    (void)snprintf(name, GROUP_NAME_BYTES, GROUP_PREFIX "%0*llx", GROUP_DIGITS,
                   (unsigned long long)number);
}

/* True if the name still leads to the directory that we have open. */
static bool
cgroup_group_is_still_there(int parent_hfd, int dir_hfd, const char *name)
{
    struct stat by_name, by_hfd;

    return !fstatat(parent_hfd, name, &by_name, 0) &&
           !fstat(dir_hfd, &by_hfd) && by_name.st_ino == by_hfd.st_ino;
}

/* Between mkdir and flock, a sweep of another supervisor may take the group for
 * an abandoned one. After locking, the group is checked once more; if it is
 * gone, the caller tries another name. */
int
cgroup_group_make(int parent_hfd, const char *name)
{
    if (mkdirat(parent_hfd, name, 0755) < 0)
        return -errno;
    int hfd = openat(parent_hfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (hfd < 0)
        return errno == ENOENT ? -EAGAIN : -errno;
    if (flock(hfd, LOCK_EX | LOCK_NB) < 0 ||
        !cgroup_group_is_still_there(parent_hfd, hfd, name)) {
        close(hfd);
        return -EAGAIN;
    }
    return hfd;
}

/* For kernels without cgroup.kill. New processes may appear while the list is
 * read, so the caller repeats it until the group is empty. */
static void
cgroup_group_kill_listed(int dir_hfd)
{
    char pids[2048], *end;

    if (file_read_text(dir_hfd, "cgroup.procs", pids, sizeof pids) < 0)
        return;
    for (char *p = pids; *p; p = *end ? end + 1 : end) {
        long pid = strtol(p, &end, 10);
        if (*end != '\n')
            return; /* the last one was cut off: the next round has it */
        if (pid > 1)
            (void)kill((pid_t)pid, SIGKILL);
    }
}

/* Removing is tried first: a group without processes needs no kill. */
int
cgroup_group_try_remove(int parent_hfd, int dir_hfd, const char *name)
{
    if (!unlinkat(parent_hfd, name, AT_REMOVEDIR) || errno == ENOENT)
        return 0;
    if (errno != EBUSY)
        return -errno;
    if (file_write_text(dir_hfd, "cgroup.kill", "1") < 0)
        cgroup_group_kill_listed(dir_hfd);
    return -EBUSY;
}

int
cgroup_group_remove(int parent_hfd, int dir_hfd, const char *name)
{
    int r = -EBUSY;

    for (int i = 0; r == -EBUSY && i < REMOVE_TRIES; i++) {
        r = cgroup_group_try_remove(parent_hfd, dir_hfd, name);
        if (r == -EBUSY)
            (void)nanosleep(&(struct timespec){.tv_nsec = REMOVE_WAIT_NS},
                            NULL);
    }
    return r;
}
