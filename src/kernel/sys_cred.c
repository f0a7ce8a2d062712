/* System calls on users and groups. The rules are in vfs/cred.c; ids inside a
 * sandbox mean nothing to the host. */
#include "kernel/kernel.h"
#include "kernel/syscall.h"

#include <errno.h>

/* --- users and groups of the task */

/* getuid() */
int64_t
sys_getuid(struct task *t, const union sysarg *a)
{
    (void)a;
    return t->as.cred.ruid;
}

/* geteuid() */
int64_t
sys_geteuid(struct task *t, const union sysarg *a)
{
    (void)a;
    return t->as.cred.uid;
}

/* getgid() */
int64_t
sys_getgid(struct task *t, const union sysarg *a)
{
    (void)a;
    return t->as.cred.rgid;
}

/* getegid() */
int64_t
sys_getegid(struct task *t, const union sysarg *a)
{
    (void)a;
    return t->as.cred.gid;
}

static int64_t
sys_cred_put_three(struct task *t, const union sysarg *a, const uint32_t ids[3])
{
    for (int i = 0; i < 3; i++) {
        int r = copy_to_guest(t, a[i].addr, &ids[i], sizeof ids[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* getresuid(&real, &effective, &saved) */
int64_t
sys_getresuid(struct task *t, const union sysarg *a)
{
    const struct cred *c = &t->as.cred;

    return sys_cred_put_three(t, a,
                              (const uint32_t[3]){c->ruid, c->uid, c->suid});
}

/* getresgid(&real, &effective, &saved) */
int64_t
sys_getresgid(struct task *t, const union sysarg *a)
{
    const struct cred *c = &t->as.cred;

    return sys_cred_put_three(t, a,
                              (const uint32_t[3]){c->rgid, c->gid, c->sgid});
}

/* --- other ones */

/* setuid(uid) */
int64_t
sys_setuid(struct task *t, const union sysarg *a)
{
    return cred_set(&t->as.cred, false, a[0].u);
}

/* setgid(gid) */
int64_t
sys_setgid(struct task *t, const union sysarg *a)
{
    return cred_set(&t->as.cred, true, a[0].u);
}

/* setreuid(real, effective) */
int64_t
sys_setreuid(struct task *t, const union sysarg *a)
{
    return cred_set_re(&t->as.cred, false, a[0].u, a[1].u);
}

/* setregid(real, effective) */
int64_t
sys_setregid(struct task *t, const union sysarg *a)
{
    return cred_set_re(&t->as.cred, true, a[0].u, a[1].u);
}

/* setresuid(real, effective, saved) */
int64_t
sys_setresuid(struct task *t, const union sysarg *a)
{
    const uint32_t ids[3] = {a[0].u, a[1].u, a[2].u};

    return cred_set_res(&t->as.cred, false, ids);
}

/* setresgid(real, effective, saved) */
int64_t
sys_setresgid(struct task *t, const union sysarg *a)
{
    const uint32_t ids[3] = {a[0].u, a[1].u, a[2].u};

    return cred_set_res(&t->as.cred, true, ids);
}

/* --- supplementary groups */

/* getgroups(size, list) */
int64_t
sys_getgroups(struct task *t, const union sysarg *a)
{
    const struct cred *c = &t->as.cred;
    int n = (int)c->n_groups;

    if (a[0].i < 0 || (a[0].i > 0 && a[0].i < n))
        return -EINVAL;
    if (a[0].i == 0)
        return n;
    int r = copy_to_guest(t, a[1].addr, c->groups,
                          (size_t)c->n_groups * sizeof c->groups[0]);
    return r < 0 ? r : n;
}

/* setgroups(size, list): the credentials change only if all of the list was
 * read. */
int64_t
sys_setgroups(struct task *t, const union sysarg *a)
{
    struct cred c = t->as.cred;

    if (c.uid != ROOT_ID)
        return -EPERM;
    if (a[0].u > GROUPS_MAX)
        return -EINVAL;
    int r = copy_from_guest(t, c.groups, a[1].addr,
                            (size_t)a[0].u * sizeof c.groups[0]);
    if (r < 0)
        return r;
    c.n_groups = a[0].u;
    t->as.cred = c;
    return 0;
}
