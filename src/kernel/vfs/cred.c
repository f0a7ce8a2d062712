/* Credentials, by the rules of Linux without capabilities: uid 0 has all rights
 * that there are inside.
 *
 * The rules are the same for users and groups, so one function serves both:
 * struct ids points to the three ids in question. */
#include "kernel/vfs/cred.h"

#include "tree/attr.h"

#include <errno.h>

struct ids {
    uint32_t *real, *effective, *saved;
};

struct cred
cred_of(uint32_t id)
{
    return (struct cred){.uid = id,
                         .gid = id,
                         .ruid = id,
                         .rgid = id,
                         .suid = id,
                         .sgid = id,
                         .n_groups = 1,
                         .groups = {id}};
}

bool
cred_has_group(const struct cred *c, uint32_t gid)
{
    for (uint32_t i = 0; i < c->n_groups; i++)
        if (c->groups[i] == gid)
            return true;
    return c->gid == gid;
}

static struct ids
cred_ids(struct cred *c, bool is_group)
{
    return is_group ? (struct ids){&c->rgid, &c->gid, &c->sgid}
                    : (struct ids){&c->ruid, &c->uid, &c->suid};
}

static bool
cred_is_one_of(const struct ids *i, uint32_t id)
{
    return id == UINT32_MAX || id == *i->real || id == *i->effective ||
           id == *i->saved;
}

static void
cred_set_id(uint32_t *to, uint32_t id)
{
    if (id != UINT32_MAX)
        *to = id;
}

/* Root changes all three ids, and cannot return; others move between their real
 * and saved one. */
int
cred_set(struct cred *c, bool is_group, uint32_t id)
{
    struct ids i = cred_ids(c, is_group);

    if (id == UINT32_MAX)
        return -EINVAL;
    if (c->uid == ROOT_ID)
        *i.real = *i.effective = *i.saved = id;
    else if (id == *i.real || id == *i.saved)
        *i.effective = id;
    else
        return -EPERM;
    return 0;
}

/* The saved id follows when the real id is set, or the effective one becomes
 * different from the old real id. A program that swaps its ids can thus swap
 * them back. */
int
cred_set_re(struct cred *c, bool is_group, uint32_t real, uint32_t effective)
{
    struct ids i = cred_ids(c, is_group);
    uint32_t old = *i.real;
    bool may_real =
        real == UINT32_MAX || real == *i.real || real == *i.effective;

    if (c->uid != ROOT_ID && (!may_real || !cred_is_one_of(&i, effective)))
        return -EPERM;
    cred_set_id(i.real, real);
    cred_set_id(i.effective, effective);
    if (real != UINT32_MAX || (effective != UINT32_MAX && effective != old))
        *i.saved = *i.effective;
    return 0;
}

int
cred_set_res(struct cred *c, bool is_group, const uint32_t ids[3])
{
    struct ids i = cred_ids(c, is_group);

    for (int n = 0; n < 3; n++)
        if (c->uid != ROOT_ID && !cred_is_one_of(&i, ids[n]))
            return -EPERM;
    cred_set_id(i.real, ids[0]);
    cred_set_id(i.effective, ids[1]);
    cred_set_id(i.saved, ids[2]);
    return 0;
}

/* A set-user-ID program keeps the real id of its caller. Files of the host
 * never have set-id bits here, whatever their mode says. */
bool
cred_exec(struct cred *c, const struct attr *program)
{
    bool may_change = !c->no_new_privs && !program->is_hosts;
    uint32_t mode = may_change ? program->mode : 0;

    if (mode & S_ISUID)
        c->uid = program->uid;
    if (mode & S_ISGID && mode & S_IXGRP)
        c->gid = program->gid;
    c->suid = c->uid;
    c->sgid = c->gid;
    return c->uid != c->ruid || c->gid != c->rgid;
}

/* The sender's real or effective user must be the real or saved user of the
 * receiver. */
bool
cred_may_signal(const struct cred *from, const struct cred *to)
{
    return from->uid == ROOT_ID || from->uid == to->suid ||
           from->uid == to->ruid || from->ruid == to->suid ||
           from->ruid == to->ruid;
}

bool
cred_may_limit(const struct cred *from, const struct cred *to)
{
    return from->uid == ROOT_ID ||
           (from->ruid == to->uid && from->ruid == to->suid &&
            from->ruid == to->ruid && from->rgid == to->gid &&
            from->rgid == to->sgid && from->rgid == to->rgid);
}
