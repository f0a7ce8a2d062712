/* Credentials: the user and the groups that a task acts as. */
#ifndef KERNEL_VFS_CRED_H
#define KERNEL_VFS_CRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attr;

enum { ROOT_ID = 0, USER_ID = 1000, NOBODY_ID = 65534, GROUPS_MAX = 32 };

/* The ids of a task. Permissions depend on the effective ones; the others
 * decide which ids a task may change to. */
struct cred {
    uint32_t uid, gid; /* effective ids: decide all permissions */
    uint32_t ruid, rgid, suid, sgid;
    uint32_t n_groups, groups[GROUPS_MAX]; /* supplementary */
    bool no_new_privs; /* exec does not honour set-id bits any more */
};

/* Returns the user `id` with the group of the same number, and no other group.
 */
struct cred cred_of(uint32_t id);
bool cred_has_group(const struct cred *c, uint32_t gid);

/* The setuid family of calls, for user ids or (is_group) group ids. UINT32_MAX
 * leaves an id unchanged. -EPERM, -EINVAL. */
int cred_set(struct cred *c, bool is_group, uint32_t id);
int cred_set_re(struct cred *c, bool is_group, uint32_t real,
                uint32_t effective);
int cred_set_res(struct cred *c, bool is_group, const uint32_t ids[3]);

/* Applies the set-id bits of an executed program. Returns true if the program
 * has permissions that its caller did not have. */
bool cred_exec(struct cred *c, const struct attr *program);

/* True if `from` may send `to` signals other than SIGCONT. */
bool cred_may_signal(const struct cred *from, const struct cred *to);
/* True if `from` may change the limits of `to`. */
bool cred_may_limit(const struct cred *from, const struct cred *to);

#endif
