/* Credentials: the user and the groups that a task acts as. */
#ifndef KERNEL_CRED_H
#define KERNEL_CRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attr;

enum { ROOT_ID = 0, USER_ID = 1000, NOBODY_ID = 65534, GROUPS_MAX = 32 };

struct cred {
    uint32_t uid, gid; /* effective: all rights come from these */
    uint32_t ruid, rgid, suid, sgid;
    uint32_t n_groups, groups[GROUPS_MAX]; /* supplementary */
    bool no_new_privs; /* exec does not honour set-id bits any more */
};

/* The user `id` and the group of the same number, and no other group. */
struct cred cred_of(uint32_t id);
bool cred_has_group(const struct cred *c, uint32_t gid);

/* The setuid families of calls, for the user ids, or with is_group for the
 * group ids. UINT32_MAX leaves an id as it is. -EPERM, -EINVAL. */
int cred_set(struct cred *c, bool is_group, uint32_t id);
int cred_set_re(struct cred *c, bool is_group, uint32_t real,
                uint32_t effective);
int cred_set_res(struct cred *c, bool is_group, const uint32_t ids[3]);

/* Takes the ids of a program that is executed: its owner's where its set-id
 * bits say so. True: the program has rights that its caller did not have. */
bool cred_exec(struct cred *c, const struct attr *program);

/* May `from` send `to` signals other than SIGCONT? */
bool cred_may_signal(const struct cred *from, const struct cred *to);
/* May `from` change the limits of `to`? */
bool cred_may_limit(const struct cred *from, const struct cred *to);

#endif
