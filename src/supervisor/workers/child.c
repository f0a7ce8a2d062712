/* The start of a worker: a group, a process in namespaces of its own, its
 * descriptors, up to its exec.
 *
 * It begins as root of its user namespace, to open the files that the runtime
 * needs and to build its root; then it seals itself (seal.c). Until then it
 * runs only our own program, and has read nothing from outside. */
#include "supervisor/workers/spawner.h"

#include "base/hfd.h"
#include "base/os_signal.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NETWORK_HFD = 4, GO_HFD, FAIL_HFD, PARENT_HFD };
/* For the requests of many connections at a time. */
enum { NETWORK_BYTES = 1 << 20 };

/* Shared with the spawner until its exec. */
struct child {
    char *const *argv, *const *envp;
    int rpc_hfd, words_hfd, state_hfd, network_hfd; /* its ends */
    int go_hfd, fail_hfd;
    int parent_hfd; /* the supervisor, as a process */
};

struct failure {
    int32_t error;
    char where[WHERE_BYTES];
};

/* --- in the child */

/* Reports a failed step to the spawner. */
static void
child_say(const struct child *n, const char *where, int error)
{
    struct failure f = {.error = -error};

    (void)snprintf(f.where, sizeof f.where, "%s", where);
    (void)hfd_write_all(n->fail_hfd, &f, sizeof f);
}

/* Moves the descriptors to their numbers. All of them are above these numbers
 * (spawner_main). Nothing else stays open, not even the other ends: the death
 * of the spawner must be visible. */
static bool
child_set_descriptors(struct child *n)
{
    if (dup2(n->rpc_hfd, 0) < 0 || dup2(n->rpc_hfd, 1) < 0 ||
        dup2(n->words_hfd, 2) < 0 || dup2(n->state_hfd, 3) < 0 ||
        dup2(n->network_hfd, NETWORK_HFD) < 0 ||
        dup3(n->go_hfd, GO_HFD, O_CLOEXEC) < 0 ||
        dup3(n->fail_hfd, FAIL_HFD, O_CLOEXEC) < 0 ||
        dup3(n->parent_hfd, PARENT_HFD, O_CLOEXEC) < 0)
        return false;
    n->go_hfd = GO_HFD;
    n->fail_hfd = FAIL_HFD;
    n->parent_hfd = PARENT_HFD;
    return !close_range(PARENT_HFD + 1, ~0U, 0);
}

/* A parent that died before the death signal was requested sends none. Its
 * pidfd shows it. */
static bool
child_has_parent(const struct child *n)
{
    struct pollfd p = {.fd = n->parent_hfd, .events = POLLIN};

    return poll(&p, 1, 0) == 0;
}

/* Changing the user clears the death signal, so it is requested twice. */
static int
child_become_worker(void)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || setsid() < 0 ||
        sethostname("sandbox", 7) < 0 || unshare(CLONE_NEWCGROUP) < 0 ||
        setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
        return -errno;
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? -errno : 0;
}

/* The main function of the child. It ends in exec or exit. */
_Noreturn static void
child_live(struct child *n)
{
    char go;

    os_signal_reset_all();
    if (!child_set_descriptors(n) || read(n->go_hfd, &go, 1) != 1)
        _exit(1);
    int r = child_become_worker();
    if (r < 0) {
        child_say(n, "namespaces", r);
        _exit(1);
    }
    if (!child_has_parent(n))
        _exit(1);
    (void)execve(n->argv[0], n->argv, n->envp);
    child_say(n, n->argv[0], -errno);
    _exit(1);
}

/* --- in the spawner */

static int
child_fail(struct spawn_answer *a, const char *where, int r)
{
    (void)snprintf(a->where, sizeof a->where, "%s", where);
    return r;
}

/* The child waits until it is in its group and has its user. */
static int
child_bring_up(const struct cgroup *g, int go_hfd, struct spawn_answer *a)
{
    int r = cgroup_move(g, a->pid);

    if (r < 0)
        return child_fail(a, "cgroup.procs", r);
    r = jail_map_user(a->pid, true);
    if (r < 0)
        return child_fail(a, "uid_map", r);
    return hfd_write_all(go_hfd, "g", 1);
}

/* The pipe closes on exec (CLOEXEC), which is success. A message is the reason
 * why there was none. */
static int
child_wait_for_exec(int fail_hfd, struct spawn_answer *a)
{
    struct failure f;

    ssize_t n = read(fail_hfd, &f, sizeof f);
    if (n == 0)
        return 0;
    if (n != sizeof f)
        return child_fail(a, "exec", -EIO);
    f.where[WHERE_BYTES - 1] = 0;
    return child_fail(a, f.where, -f.error);
}

/* CLONE_PARENT makes the new process a child of the supervisor, which will wait
 * for it; the spawner only knows its pid. */
static int
child_make(const struct cgroup *g, struct child *n, int go_hfd,
           OWN int fail_hfd, struct spawn_answer *a)
{
    const struct jail_start b = {.group_hfd = cgroup_start_hfd(g),
                                 .for_parent = true};
    CLEANUP(hfd_closep) int failed = fail_hfd;

    int r = jail_clone(&b, &a->pid, &a->hfd[SPAWN_PID]);
    if (r < 0)
        return child_fail(a, "clone3", r);
    if (!a->pid)
        child_live(n);
    r = child_bring_up(g, go_hfd, a);
    hfd_closep(&n->fail_hfd);
    return r < 0 ? r : child_wait_for_exec(failed, a);
}

/* Two pipes connect the spawner with the new process until its exec: `go` holds
 * the process back until it is in its group, and `failed` returns an error. */
static int
child_with_pipes(const struct cgroup *g, struct child *n,
                 struct spawn_answer *a)
{
    int go[2], failed[2];

    if (pipe2(go, O_CLOEXEC) < 0)
        return child_fail(a, "pipe", -errno);
    CLEANUP(hfd_closep) int go_child = go[0];
    CLEANUP(hfd_closep) int go_here = go[1];
    if (pipe2(failed, O_CLOEXEC) < 0)
        return child_fail(a, "pipe", -errno);
    n->go_hfd = go_child;
    n->fail_hfd = failed[1];
    int r = child_make(g, n, go_here, failed[0], a);
    hfd_closep(&n->fail_hfd);
    return r;
}

/* Creates a socket pair; our end does not block. */
static int
child_pair(int type, int *ret_here, int *ret_child)
{
    int v[2];

    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, v) < 0)
        return -errno;
    *ret_here = v[0];
    *ret_child = v[1];
    return fcntl(v[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

/* Creates the socket pair of the broker. The broker gets our end, and its sends
 * may wait, so the end blocks. */
static int
child_network(int *ret_here, int *ret_child)
{
    const int size = NETWORK_BYTES;
    int v[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, v) < 0)
        return -errno;
    *ret_here = v[0];
    *ret_child = v[1];
    for (int i = 0; i < 2; i++)
        (void)setsockopt(v[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    return 0;
}

static int
child_words(int *ret_here, int *ret_child)
{
    int v[2];

    if (pipe2(v, O_CLOEXEC) < 0)
        return -errno;
    *ret_here = v[0];
    *ret_child = v[1];
    return fcntl(v[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

/* The supervisor gets its ends of the streams with the answer. The ends of the
 * worker are closed here, so that each stream ends with its worker. */
static int
child_with_streams(const struct cgroup *g, struct spawn_request *b,
                   struct spawn_answer *a)
{
    struct child n = {
        .argv = b->argv, .envp = b->envp, .parent_hfd = b->parent_hfd};
    CLEANUP(hfd_closep) int rpc = -1;
    CLEANUP(hfd_closep) int state = -1;
    CLEANUP(hfd_closep) int network = -1;
    CLEANUP(hfd_closep) int last = -1;

    int r = child_pair(SOCK_STREAM, &a->hfd[SPAWN_RPC], &rpc);
    if (r == 0)
        r = child_pair(SOCK_STREAM, &a->hfd[SPAWN_STATE], &state);
    if (r == 0)
        r = child_network(&a->hfd[SPAWN_NETWORK], &network);
    if (r == 0)
        r = child_words(&a->hfd[SPAWN_WORDS], &last);
    if (r < 0)
        return child_fail(a, "socketpair", r);
    n.rpc_hfd = rpc;
    n.state_hfd = state;
    n.network_hfd = network;
    n.words_hfd = last;
    return child_with_pipes(g, &n, a);
}

/* After an error, the answer contains what exists already, and the supervisor
 * removes it. */
void
child_start_worker(const struct cgroup_host *h, struct spawn_request *b,
                   struct spawn_answer *ret)
{
    struct cgroup g;

    int r = cgroup_init(&g, h);
    if (r < 0) {
        ret->error = child_fail(ret, "cgroup", r);
        return;
    }
    memcpy(ret->group, g.name, sizeof ret->group);
    memcpy(&ret->hfd[SPAWN_GROUP], g.dir_hfd, sizeof g.dir_hfd);
    ret->error = child_with_streams(&g, b, ret);
}
