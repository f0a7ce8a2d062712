/* Finds the cgroup hierarchies of this host by trying.
 *
 * Problem: systems differ in what is mounted, what is delegated to this user,
 * and what a container allows. Reading the configuration of all of them would
 * never be complete.
 *
 * Idea: try it. For each controller, a group is created in the place where we
 * would need it, and removed again. Each hierarchy that works is used. The
 * unified hierarchy is preferred; controllers that it does not offer are
 * searched in v1. */
#include "supervisor/common/file.h"
#include "supervisor/jail/cgroup_impl.h"
#include "supervisor/jail/cgroup_text.h"

#include "base/buf.h"
#include "base/hfd.h"
#include "base/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_MAX = 4 << 20, BORN = 42 };

static const char *const controller_names[N_CTLS] = {
    [CTL_memory] = "memory", [CTL_cpu] = "cpu", [CTL_pids] = "pids"};

/* A search in progress, with the kernel's lists of mounts and of our own
 * groups. */
struct cgroup_search {
    struct cgroup_host *h;
    const struct options *o;
    struct buf mounts, groups;
};

/* Reads a file of /proc, whose size is not known in advance, and adds a NUL. */
static int
cgroup_host_read_all(const char *path, struct buf *b)
{
    CLEANUP(hfd_closep) int hfd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 1;

    if (hfd < 0)
        return -errno;
    while (n > 0) {
        char *to = buf_room(b, 4096);
        if (!to)
            return b->error;
        n = read(hfd, to, 4096);
        if (n < 0)
            return -errno;
        b->len += (size_t)n;
    }
    buf_add(b, "", 1);
    return b->error;
}

/* Makes a controller available in the groups below. It may be enabled already,
 * without a right to write. */
static bool
cgroup_host_enable(int dir_hfd, const char *controller)
{
    char text[256], plus[16];

    (void)snprintf(plus, sizeof plus, "+%s", controller);
    return !file_write_text(dir_hfd, "cgroup.subtree_control", plus) ||
           (!file_read_text(dir_hfd, "cgroup.subtree_control", text,
                            sizeof text) &&
            cgroup_text_has_word(text, " \n", controller));
}

/* A group with processes must not pass controllers on: the kernel refuses some,
 * and for others it creates groups that cannot have processes. Only the root
 * group is exempt. */
static bool
cgroup_host_is_empty_or_root(int dir_hfd)
{
    char text[16];

    return faccessat(dir_hfd, "cgroup.type", F_OK, 0) < 0 ||
           (!file_read_text(dir_hfd, "cgroup.procs", text, sizeof text) &&
            !*text);
}

/* Opens a group that the user named, and creates the missing parts of its path.
 * Controllers are passed on at each level. */
static int
cgroup_host_open_named(const char *point, const char *path)
{
    int hfd = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[NAME_MAX + 1];

    while (hfd >= 0 && *(path += strspn(path, "/"))) {
        CLEANUP(hfd_closep) int above = hfd;
        size_t n = strcspn(path, "/");
        if (n > NAME_MAX)
            return -ENAMETOOLONG;
        (void)snprintf(name, sizeof name, "%.*s", (int)n, path);
        for (int c = 0; c < N_CTLS && cgroup_host_is_empty_or_root(above); c++)
            (void)cgroup_host_enable(above, controller_names[c]);
        if (mkdirat(above, name, 0755) < 0 && errno != EEXIST)
            return -errno;
        hfd = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        path += n;
    }
    return hfd < 0 ? -errno : hfd;
}

/* Opens our own group. In a container the mount may show only part of the
 * hierarchy, so its root is subtracted from the path. */
static int
cgroup_host_open_own(const struct cgroup_search *s, const char *controller,
                     const struct cgroup_mount *m)
{
    char group[CGROUP_PATH_BYTES], path[2 * CGROUP_PATH_BYTES];
    size_t skip = strcmp(m->root, "/") ? strlen(m->root) : 0;

    if (!cgroup_text_find_group(s->groups.p, controller, group, sizeof group) ||
        strncmp(group, m->root, skip) != 0)
        return -ENOENT;
    (void)snprintf(path, sizeof path, "%s/%s", m->point, group + skip);
    int hfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return hfd < 0 ? -errno : hfd;
}

/* A group whose lock is free belonged to a supervisor that died. */
static void
cgroup_host_sweep_one(int parent_hfd, const char *name)
{
    CLEANUP(hfd_closep)
    int hfd = openat(parent_hfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (hfd >= 0 && !flock(hfd, LOCK_EX | LOCK_NB))
        (void)cgroup_group_remove(parent_hfd, hfd, name);
}

/* True for names as cgroup_group_name makes them. Others are not ours to
 * remove. */
static bool
cgroup_host_is_group_name(const char *name)
{
    size_t n = strlen(GROUP_PREFIX);

    return !strncmp(name, GROUP_PREFIX, n) &&
           strspn(name + n, "0123456789abcdef") == GROUP_DIGITS &&
           !name[n + GROUP_DIGITS];
}

static void
cgroup_host_sweep_in(int parent_hfd)
{
    int hfd = openat(parent_hfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = hfd < 0 ? NULL : fdopendir(hfd);
    const struct dirent *e;

    while (dir && (e = readdir(dir)))
        if (cgroup_host_is_group_name(e->d_name))
            cgroup_host_sweep_one(parent_hfd, e->d_name);
    if (dir)
        closedir(dir);
}

void
cgroup_host_sweep(const struct cgroup_host *h)
{
    for (int i = 0; i < h->n; i++)
        cgroup_host_sweep_in(h->hier[i].parent_hfd);
}

/* Starts a process in the group that ends at once. Some container runtimes
 * refuse clone3. */
static bool
cgroup_host_start_inside_works(int dir_hfd)
{
    struct clone_args args = {.flags = CLONE_INTO_CGROUP,
                              .exit_signal = SIGCHLD,
                              .cgroup = (uint64_t)dir_hfd};
    int status = 0;

    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (!pid)
        _exit(BORN);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == BORN;
}

/* Tries whether groups can be created here and (v2) processes be started in
 * them. */
static bool
cgroup_host_try_group(struct cgroup_host *h, const struct hierarchy *hier)
{
    char name[GROUP_NAME_BYTES];

    cgroup_group_name(name);
    CLEANUP(hfd_closep) int hfd = cgroup_group_make(hier->parent_hfd, name);
    if (hfd < 0)
        return false;
    if (hier->version == 2)
        h->starts_inside = cgroup_host_start_inside_works(hfd);
    return !cgroup_group_remove(hier->parent_hfd, hfd, name);
}

/* Returns the index of a hierarchy with this parent, which is consumed, or -1
 * if it cannot be used. Two v1 controllers may share one hierarchy; they are
 * recognised by their device. */
static int
cgroup_host_add_hierarchy(struct cgroup_host *h, int version, int parent_hfd)
{
    struct stat known, st;

    for (int i = 0; !fstat(parent_hfd, &st) && i < h->n; i++) {
        if (!fstat(h->hier[i].parent_hfd, &known) &&
            known.st_dev == st.st_dev) {
            close(parent_hfd);
            return i;
        }
    }
    struct hierarchy hier = {version, parent_hfd};
    cgroup_host_sweep_in(parent_hfd);
    if (!cgroup_host_try_group(h, &hier)) {
        close(parent_hfd);
        return -1;
    }
    h->hier[h->n] = hier;
    return h->n++;
}

static int
cgroup_host_find_hierarchy(struct cgroup_search *s, const char *controller)
{
    struct cgroup_mount m;

    if (!cgroup_text_find_mount(s->mounts.p, controller, &m))
        return -1;
    int hfd = s->o->cgroup ? cgroup_host_open_named(m.point, s->o->cgroup)
                           : cgroup_host_open_own(s, controller, &m);
    return hfd < 0 ? -1 : cgroup_host_add_hierarchy(s->h, m.version, hfd);
}

/* If we are the only process in our group, we move to a group beside those of
 * the jails. Our own group is then empty and can pass controllers on. */
static void
cgroup_host_step_aside(struct cgroup_host *h, int parent_hfd)
{
    cgroup_group_name(h->aside);
    h->aside_hfd = cgroup_group_make(parent_hfd, h->aside);
    if (h->aside_hfd >= 0)
        (void)file_write_text(h->aside_hfd, "cgroup.procs", "0");
}

/* Undoes cgroup_host_step_aside: the controllers must be given up first,
 * because a group that passes them on cannot have processes. */
static void
cgroup_host_step_back(struct cgroup_host *h)
{
    char minus[16];

    if (h->aside_hfd < 0)
        return;
    int parent_hfd = h->hier[h->unified].parent_hfd;
    for (int c = 0; c < N_CTLS; c++) {
        (void)snprintf(minus, sizeof minus, "-%s", controller_names[c]);
        (void)file_write_text(parent_hfd, "cgroup.subtree_control", minus);
    }
    if (!file_write_text(parent_hfd, "cgroup.procs", "0"))
        (void)cgroup_group_remove(parent_hfd, h->aside_hfd, h->aside);
    close(h->aside_hfd);
    h->aside_hfd = -1;
}

/* True if at least one of the controllers that we need is available here. */
static bool
cgroup_host_offers_any(int dir_hfd)
{
    char offered[256];
    bool any = false;

    if (file_read_text(dir_hfd, "cgroup.controllers", offered, sizeof offered) <
        0)
        return false;
    for (int c = 0; c < N_CTLS; c++)
        any |= cgroup_text_has_word(offered, " \n", controller_names[c]);
    return any;
}

/* True if our group can pass controllers on, perhaps after stepping aside. */
static bool
cgroup_host_can_hand_down(struct cgroup_search *s)
{
    struct cgroup_host *h = s->h;

    if (s->o->best != BACKEND_v2 || h->unified < 0)
        return false;
    int parent_hfd = h->hier[h->unified].parent_hfd;
    if (!cgroup_host_offers_any(parent_hfd))
        return false;
    if (cgroup_host_is_empty_or_root(parent_hfd))
        return true;
    if (s->o->cgroup)
        return false;
    cgroup_host_step_aside(h, parent_hfd);
    if (cgroup_host_is_empty_or_root(parent_hfd))
        return true;
    cgroup_host_step_back(h);
    return false;
}

/* Searches each controller in the unified hierarchy first, and then in v1.
 * Options may exclude the better back ends, for tests. */
static void
cgroup_host_search(struct cgroup_search *s)
{
    struct cgroup_host *h = s->h;
    enum backend best = s->o->best;

    if (best <= BACKEND_hybrid)
        h->unified = cgroup_host_find_hierarchy(s, NULL);
    bool down = cgroup_host_can_hand_down(s);
    for (int c = 0; c < N_CTLS; c++) {
        const char *name = controller_names[c];
        if (down && cgroup_host_enable(h->hier[h->unified].parent_hfd, name))
            h->of[c] = h->unified;
        else if (best <= BACKEND_v1)
            h->of[c] = cgroup_host_find_hierarchy(s, name);
    }
}

void
cgroup_host_init(struct cgroup_host *h, const struct options *o)
{
    struct cgroup_search s = {.h = h, .o = o};

    *h = (struct cgroup_host){
        .unified = -1, .of = {-1, -1, -1}, .aside_hfd = -1};
    buf_init(&s.mounts, TEXT_MAX);
    buf_init(&s.groups, TEXT_MAX);
    if (!cgroup_host_read_all("/proc/self/mountinfo", &s.mounts) &&
        !cgroup_host_read_all("/proc/self/cgroup", &s.groups))
        cgroup_host_search(&s);
    buf_fini(&s.mounts);
    buf_fini(&s.groups);
}

void
cgroup_host_fini(struct cgroup_host *h)
{
    cgroup_host_step_back(h);
    for (int i = 0; i < h->n; i++)
        close(h->hier[i].parent_hfd);
    h->n = 0;
}

enum backend
cgroup_host_backend(const struct cgroup_host *h)
{
    int versions = 0;

    for (int c = 0; c < N_CTLS; c++)
        if (h->of[c] >= 0)
            versions |= h->hier[h->of[c]].version;
    if (!versions)
        return BACKEND_rlimits;
    if (versions == 2)
        return BACKEND_v2;
    return h->unified >= 0 ? BACKEND_hybrid : BACKEND_v1;
}
