/* Credentials. The guest tests have the rules of the calls. */
#include "kernel/vfs/cred.h"

#include "test.h"

#include "kernel/vfs/vfs.h"

TEST(cred_exec_takes_the_owner_of_a_set_uid_program)
{
    const struct attr a = {.mode = S_IFREG | 06755, .uid = 0, .gid = 7};
    struct cred c = cred_of(1000);

    CHECK(cred_exec(&c, &a));
    CHECK(c.uid == 0 && c.ruid == 1000 && c.suid == 0);
    CHECK(c.gid == 7 && c.rgid == 1000 && c.sgid == 7);
}

TEST(cred_exec_makes_the_saved_ids_the_effective_ones)
{
    const struct attr a = {.mode = S_IFREG | 0755};
    struct cred c = cred_of(1000);

    c.suid = c.sgid = 0;
    CHECK(!cred_exec(&c, &a));
    CHECK(c.suid == 1000 && c.sgid == 1000);
}

TEST(cred_exec_honours_no_bit_that_it_may_not)
{
    struct attr a = {.mode = S_IFREG | 06755};
    struct cred c = cred_of(1000);

    a.is_hosts = true;
    CHECK(!cred_exec(&c, &a));
    CHECK_EQ(c.uid, 1000);
    a.is_hosts = false;
    c.no_new_privs = true;
    CHECK(!cred_exec(&c, &a));
    CHECK_EQ(c.uid, 1000);
    c.no_new_privs = false;
    a.mode = S_IFREG | 02705; /* no program of the group: a lock of old */
    CHECK(!cred_exec(&c, &a));
    CHECK_EQ(c.gid, 1000);
}

TEST(cred_groups_are_the_effective_one_and_the_supplementary_ones)
{
    struct cred c = cred_of(5);

    CHECK(cred_has_group(&c, 5) && !cred_has_group(&c, 6));
    c.groups[c.n_groups++] = 6;
    CHECK(cred_has_group(&c, 6));
    c.n_groups = 0;
    CHECK(cred_has_group(&c, 5));
}
