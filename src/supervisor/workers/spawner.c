/* The spawner: a process that only starts others. One order is served at a
 * time. */
#include "supervisor/workers/spawner.h"

#include "base/hfd.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_HFD = 10 }; /* above those that children get */

/* --- inside */

/* Sets standard output and error of the next child: a pipe to the
 * supervisor. */
static int
spawner_lend_streams(struct spawn_answer *a)
{
    int v[2];

    if (pipe2(v, O_CLOEXEC) < 0)
        return -errno;
    CLEANUP(hfd_closep) int child = v[1];
    a->hfd[SPAWN_WORDS] = v[0];
    if (fcntl(v[0], F_SETFL, O_NONBLOCK) < 0 || dup2(child, 1) < 0 ||
        dup2(child, 2) < 0)
        return -errno;
    return 0;
}

static void
spawner_take_streams_back(void)
{
    (void)dup2(0, 1);
    (void)dup2(0, 2);
}

/* Copies the jail's descriptors into the answer. */
static void
spawner_tell_jail(const struct jail *j, struct spawn_answer *a)
{
    a->pid = j->pid > 0 ? j->pid : 0;
    a->hfd[SPAWN_PID] = j->pid_hfd;
    a->hfd[SPAWN_MESSAGE] = j->message_hfd;
    a->hfd[SPAWN_GO] = j->go_hfd;
    a->hfd[SPAWN_DISK] = j->disk_hfd;
    a->hfd[SPAWN_PROC] = j->proc_hfd;
}

static void
spawner_start_command(const struct cgroup_host *h, struct spawn_request *b,
                      struct spawn_answer *a)
{
    struct options o = {.command = b->argv};
    struct cgroup g;
    struct jail j;

    memcpy(o.limit, b->o.limit, sizeof o.limit);
    memcpy(o.read, b->read, sizeof o.read);
    (void)strcpy(a->where, "cgroup");
    a->error = jail_group(&g, h, o.limit);
    if (a->error < 0)
        return;
    a->memory_wall = g.memory_wall;
    memcpy(a->group, g.name, sizeof a->group);
    memcpy(&a->hfd[SPAWN_GROUP], g.dir_hfd, sizeof g.dir_hfd);
    (void)strcpy(a->where, "streams");
    a->error = spawner_lend_streams(a);
    if (a->error == 0) {
        a->error = jail_make(&j, &o, &g, true, a->where);
        spawner_tell_jail(&j, a);
    }
    spawner_take_streams_back();
}

/* The descriptors belong to the supervisor once the answer was sent; our copies
 * are closed. */
static int
spawner_serve_one(int hfd, const struct cgroup_host *h, struct spawn_request *b)
{
    struct spawn_answer a = {0};

    int r = spawn_take_order(hfd, b);
    if (r < 0)
        return r;
    a.id = b->o.id;
    memset(a.hfd, 0xff, sizeof a.hfd);
    (b->o.is_command ? spawner_start_command : child_start_worker)(h, b, &a);
    r = spawn_send_answer(hfd, &a);
    spawn_drop_answer(&a);
    return r;
}

/* Children get the numbers up to 3, so our own descriptors must not use them.
 * /dev/null occupies the low numbers. */
static int
spawner_move_up(int hfd)
{
    int up = fcntl(hfd, F_DUPFD_CLOEXEC, FIRST_HFD);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (up < 0 || null < 0)
        return -errno;
    for (int i = 0; i < FIRST_HFD; i++)
        if (i != null)
            (void)dup3(null, i, i > 2 ? O_CLOEXEC : 0);
    return up;
}

/* Returns the supervisor as a pidfd, or -errno. If it died before the death
 * signal was requested, no signal comes, but its socket is closed. */
static int
spawner_stay_with_parent(int hfd)
{
    struct pollfd p = {.fd = hfd};

    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return -errno;
    int parent_hfd = pidfd_open(getppid(), 0);
    if (parent_hfd < 0)
        return -errno;
    return poll(&p, 1, 0) == 0 ? parent_hfd : -EPIPE;
}

int
spawner_main(void)
{
    struct spawn_request *b = malloc(sizeof *b);
    struct cgroup_host h;
    int hfd = spawner_move_up(0);
    int r = b && hfd >= 0 ? spawn_take_host(hfd, &h) : -ENOMEM;

    if (r == 0) {
        b->parent_hfd = spawner_stay_with_parent(hfd);
        r = b->parent_hfd < 0 ? b->parent_hfd : 0;
    }
    while (r == 0 && spawner_serve_one(hfd, &h, b) == 0)
        ;
    free(b);
    return r == 0 ? 0 : 1;
}

/* --- outside */

/* posix_spawn does not copy the memory of the supervisor. /proc/self/exe is
 * this very program, also after an upgrade of its file. */
static pid_t
spawner_spawn(int hfd)
{
    char name[] = "wasmsand-supervisor", word[] = "spawner";
    char *const argv[] = {name, word, NULL}, *const envp[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    pid_t pid;

    if (posix_spawn_file_actions_init(&files))
        return -ENOMEM;
    if (posix_spawnattr_init(&attr)) {
        (void)posix_spawn_file_actions_destroy(&files);
        return -ENOMEM;
    }
    /* Signals of a terminal are not for it. */
    int r = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
    if (!r)
        r = posix_spawn_file_actions_adddup2(&files, hfd, 0);
    if (!r)
        r = posix_spawn(&pid, "/proc/self/exe", &files, &attr, argv, envp);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&files);
    return r ? -r : pid;
}

int
spawner_start(const struct cgroup_host *h, pid_t *ret_pid, int *ret_hfd)
{
    int v[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, v) < 0)
        return -errno;
    CLEANUP(hfd_closep) int theirs = v[1];
    int r = spawn_send_host(v[0], h);
    if (r == 0)
        r = spawner_spawn(theirs);
    if (r < 0) {
        close(v[0]);
        return r;
    }
    *ret_pid = r;
    *ret_hfd = v[0];
    return 0;
}
