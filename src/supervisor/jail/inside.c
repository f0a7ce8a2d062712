/* The first process of a jail: restricts itself, runs the command, and reaps.
 *
 * The order matters. The root is built with all capabilities of the new user
 * namespace; then these are dropped, and then the filters are loaded. The
 * command is our child and inherits all of this. It cannot affect us, because
 * we cannot be traced and are the init of its pid namespace. */
#include "supervisor/jail/jail.h"

#include "supervisor/common/file.h"
#include "supervisor/jail/native_calls.h"
#include "supervisor/jail/root.h"

#include "base/hfd.h"
#include "base/os_signal.h"
#include "base/own.h"
#include "seal/landlock.h"
#include "seal/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sends a message to the supervisor. */
static void
inside_say(const struct jail_plan *plan, int kind, int value, const char *where)
{
    struct jail_message m = {.kind = (unsigned)kind, .value = value};

    (void)snprintf(m.where, sizeof m.where, "%s", where);
    (void)hfd_write_all(plan->message_hfd, &m, sizeof m);
}

/* Closes all descriptors but the standard streams and our two pipes. The
 * command must not inherit any descriptor of the supervisor. */
static void
inside_close_others(const struct jail_plan *plan)
{
    unsigned a = (unsigned)plan->message_hfd, b = (unsigned)plan->go_hfd;
    unsigned low = a < b ? a : b, high = a < b ? b : a;

    if (low > 3)
        (void)close_range(3, low - 1, 0);
    if (high > low + 1)
        (void)close_range(low + 1, high - 1, 0);
    (void)close_range(high + 1, ~0U, 0);
}

/* Waits for the supervisor. An end of file means that it died. */
static bool
inside_wait_for_go(const struct jail_plan *plan)
{
    char go;

    return read(plan->go_hfd, &go, 1) == 1;
}

/* --- steps, in order; 0 or -errno, with the failed call in *ret_where */

/* The change of user clears the death signal and the dumpable flag, so both are
 * set afterwards. setgroups is not allowed if the supervisor is not root; there
 * are no groups to drop then. */
static int
inside_become_user(const struct jail_plan *plan, const char **ret_where)
{
    (void)plan;
    *ret_where = "setuid";
    (void)setgroups(0, NULL); /* not allowed where we are not root outside */
    if (setresgid(JAIL_UID, JAIL_UID, JAIL_UID) < 0 ||
        setresuid(JAIL_UID, JAIL_UID, JAIL_UID) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
        return -errno;
    return 0;
}

/* Process groups reach beyond pid namespaces: without a session of its own, a
 * command could signal the group of its supervisor. */
static int
inside_leave_session(const struct jail_plan *plan, const char **ret_where)
{
    (void)plan;
    *ret_where = "setsid";
    return setsid() < 0 ? -errno : 0;
}

static int
inside_name_host(const struct jail_plan *plan, const char **ret_where)
{
    (void)plan;
    *ret_where = "sethostname";
    return sethostname("sandbox", 7) < 0 ? -errno : 0;
}

/* A new network namespace has a loopback interface, which is down. */
static int
inside_start_loopback(const struct jail_plan *plan, const char **ret_where)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

    *ret_where = "loopback";
    if (plan->o->limit[LIMIT_network])
        return 0;
    CLEANUP(hfd_closep) int hfd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (hfd < 0)
        return errno == EAFNOSUPPORT ? 0 : -errno;
    return ioctl(hfd, SIOCSIFFLAGS, &lo) < 0 ? -errno : 0;
}

/* The jail sees its own group as the root of all groups. */
static int
inside_hide_groups(const struct jail_plan *plan, const char **ret_where)
{
    (void)plan;
    *ret_where = "cgroup namespace";
    return unshare(CLONE_NEWCGROUP) < 0 ? -errno : 0;
}

/* If the host runs out of memory, the kernel kills this jail before its
 * supervisor. */
static int
inside_offer_to_oom_killer(const struct jail_plan *plan, const char **ret_where)
{
    (void)plan;
    *ret_where = "oom_score_adj";
    return file_write_text(AT_FDCWD, "/proc/self/oom_score_adj", "500");
}

static int
inside_build_root(const struct jail_plan *plan, const char **ret_where)
{
    return root_build(plan->o->limit[LIMIT_disk], plan->o->read, ret_where);
}

static int
inside_drop_capabilities(const struct jail_plan *plan, const char **ret_where)
{
    (void)plan;
    *ret_where = "capabilities";
    int r = privileges_bound();
    return r < 0 ? r : privileges_drop();
}

static int
inside_restrict_files(const struct jail_plan *plan, const char **ret_where)
{
    (void)plan;
    *ret_where = "Landlock";
    return landlock_restrict(root_writable);
}

/* Without a memory controller, memory outside of processes would be counted by
 * nobody, so calls that create it are forbidden. */
static int
inside_filter_calls(const struct jail_plan *plan, const char **ret_where)
{
    *ret_where = "seccomp";
    int r = plan->rlimit_memory ? seccomp_load(&native_no_hidden_memory) : 0;
    return r < 0 ? r : seccomp_load(&native_calls);
}

typedef int step(const struct jail_plan *plan, const char **ret_where);
/* The order is explained at the head of the file. */
static step *const steps[] = {
    inside_become_user,    inside_leave_session,     inside_name_host,
    inside_start_loopback, inside_hide_groups,       inside_offer_to_oom_killer,
    inside_build_root,     inside_drop_capabilities, inside_restrict_files,
    inside_filter_calls,
};

static bool
inside_shut_in(const struct jail_plan *plan)
{
    const char *where = "";

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int r = steps[i](plan, &where);
        if (r < 0) {
            inside_say(plan, JAIL_FAILED, -r, where);
            return false;
        }
    }
    return true;
}

/* --- the command */

/* Limits of the command. Those for memory and processes replace a controller
 * that this host does not have. */
static void
inside_set_rlimits(const struct jail_plan *plan)
{
    const uint32_t *limit = plan->o->limit;

    privileges_lower_rlimit(RLIMIT_CORE, 0);
    privileges_lower_rlimit(RLIMIT_NOFILE, 65536);
    privileges_lower_rlimit(RLIMIT_MEMLOCK, 64 << 10);
    privileges_lower_rlimit(RLIMIT_MSGQUEUE, 1 << 20);
    privileges_lower_rlimit(RLIMIT_RTPRIO, 0);
    privileges_lower_rlimit(RLIMIT_NICE, 0);
    if (plan->rlimit_memory)
        privileges_lower_rlimit(RLIMIT_DATA, mb_bytes(limit[LIMIT_memory]));
    if (plan->rlimit_processes)
        privileges_lower_rlimit(RLIMIT_NPROC, limit[LIMIT_processes] + 1);
}

/* The command gets a fixed environment and a few harmless variables of the
 * caller. Everything else may contain secrets. */
static void
inside_set_environment(void)
{
    static const char *const kept[] = {"TERM", "LANG", "LC_ALL", "TZ"};
    enum { N_KEPT = sizeof kept / sizeof *kept };
    char *values[N_KEPT];

    for (int i = 0; i < N_KEPT; i++) {
        const char *value = getenv(kept[i]);
        values[i] = value ? strdup(value) : NULL;
    }
    (void)clearenv();
    for (int i = 0; i < N_KEPT; i++)
        if (values[i])
            (void)setenv(kept[i], values[i], 1);
    (void)setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 1);
    (void)setenv("HOME", root_writable[0], 1);
    (void)setenv("USER", "sandbox", 1);
}

/* Runs in the child: becomes the command, or reports why not. */
static void
inside_run_command(const struct jail_plan *plan)
{
    char **argv = plan->o->command;

    os_signal_reset_all();
    inside_set_environment();
    inside_set_rlimits(plan);
    (void)execvp(argv[0], argv);
    inside_say(plan, JAIL_NO_EXEC, errno, argv[0]);
    _exit(1);
}

/* --- init: passes signals from outside on to the command, until it ends */

/* Reaps all children, also orphans. Returns true if the command itself has
 * ended. */
static bool
inside_reap(const struct jail_plan *plan, pid_t command)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == command) {
            inside_say(plan, JAIL_ENDED, status, "");
            return true;
        }
    }
    return false;
}

/* Signals from inside are ignored (si_pid is not 0): only the supervisor, which
 * is outside of the pid namespace, may use us to signal the command. */
static void
inside_serve(const struct jail_plan *plan, const sigset_t *signals,
             pid_t command)
{
    siginfo_t info;

    for (;;) {
        int signal = sigwaitinfo(signals, &info);
        if (signal == SIGCHLD ? inside_reap(plan, command) : false)
            return;
        if (signal > 0 && signal != SIGCHLD && info.si_pid == 0)
            (void)kill(command, signal);
    }
}

/* The command owns the standard streams now. If we kept them open, a reader
 * would not see their end. */
static void
inside_let_streams_go(void)
{
    int hfd = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int i = 0; i < 3; i++)
        (void)dup2(hfd, i);
}

/* The first go comes when group and user are set up, the second one when the
 * command should run. */
int
jail_inside(struct jail_plan *plan)
{
    sigset_t signals;

    inside_close_others(plan);
    sigfillset(&signals);
    (void)sigprocmask(SIG_SETMASK, &signals, NULL);
    if (!inside_wait_for_go(plan) || !inside_shut_in(plan))
        return 1;
    inside_say(plan, JAIL_READY, 0, "");
    if (!inside_wait_for_go(plan) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return 1;
    if (!plan->o->command[0])
        return 0;
    pid_t command = fork();
    if (command < 0)
        inside_say(plan, JAIL_FAILED, errno, "fork");
    if (command < 0)
        return 1;
    if (!command)
        inside_run_command(plan);
    inside_let_streams_go();
    inside_serve(plan, &signals, command);
    return 0;
}
