/* The jail of the processes that run guests: no files, no network, no other
 * programs, no signals to other processes, a limited number of processes. Only
 * descriptors that are open stay usable. */
#ifndef V86_JAIL_H
#define V86_JAIL_H

/* The flags of clone that fork uses, for filters. */
#define V86_FORK_FLAGS (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

/* Returns 0, or -errno; some steps have been done then. Forked processes
 * inherit everything but the signal at the parent's death. */
int v86_jail_enter(void);

#endif
