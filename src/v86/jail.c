#include "v86/jail.h"

#include "seal/landlock.h"
#include "seal/privileges.h"
#include "seal/rows.h"

#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { JAIL_HFDS = 32 };

/* More than the server's maximum of sandboxes and snapshots. */
enum { JAIL_PROCESSES = 1200 };

/* Users that nothing else has; jails of the supervisor use the same ones. */
enum { JAIL_FIRST_UID = 0x70000000 };

/* A guest that controls its process could fork without end. The kernel
 * counts the processes of a user in each user namespace, so the limit needs a
 * user or a namespace of its own. Without the right to either, as inside a
 * worker, the limit of the surrounding group remains. */
static void
jail_limit_processes(void)
{
    uid_t uid = JAIL_FIRST_UID + (uid_t)getpid();

    bool is_alone = geteuid() == 0 ? setgroups(0, NULL) == 0 &&
                                         setresgid(uid, uid, uid) == 0 &&
                                         setresuid(uid, uid, uid) == 0
                                   : unshare(CLONE_NEWUSER) == 0;
    if (is_alone)
        privileges_lower_rlimit(RLIMIT_NPROC, JAIL_PROCESSES);
}

/* The filter comes last, because it forbids the calls of the other steps. A
 * change of the user would clear the death signal, which is therefore requested
 * after it. */
int
v86_jail_enter(void)
{
    static const struct seccomp_rule rules[] = {
#include "v86/calls.def"
    };
    static const struct seccomp_policy policy = POLICY(rules, EPERM);

    jail_limit_processes();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    privileges_lower_rlimit(RLIMIT_CORE, 0);
    privileges_lower_rlimit(RLIMIT_FSIZE, 0);
    privileges_lower_rlimit(RLIMIT_MEMLOCK, 0);
    privileges_lower_rlimit(RLIMIT_NOFILE, JAIL_HFDS);
    int r = privileges_drop();
    if (r == 0)
        r = landlock_nothing();
    return r < 0 ? r : seccomp_load(&policy);
}
