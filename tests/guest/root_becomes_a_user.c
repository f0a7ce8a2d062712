/* user: root */
/* post: fork */
/* Root may take any ids; what has no saved id of root cannot go back. */
#include "proc.h"

enum { ID = 1234, OTHER = 4321 };

static void
check_users(uid_t real, uid_t effective, uid_t saved)
{
    uid_t r, e, s;

    OK(getresuid(&r, &e, &s));
    CHECK_EQ(r, real);
    CHECK_EQ(e, effective);
    CHECK_EQ(s, saved);
    CHECK_EQ(getuid(), real);
    CHECK_EQ(geteuid(), effective);
}

static void
check_groups(gid_t real, gid_t effective, gid_t saved)
{
    gid_t r, e, s;

    OK(getresgid(&r, &e, &s));
    CHECK_EQ(r, real);
    CHECK_EQ(e, effective);
    CHECK_EQ(s, saved);
}

static int
for_good(void)
{
    OK(setgid(ID));
    OK(setuid(ID));
    check_users(ID, ID, ID);
    check_groups(ID, ID, ID);
    CHECK_ERR(setuid(0), EPERM);
    CHECK_ERR(seteuid(0), EPERM);
    CHECK_ERR(setresuid(0, -1, -1), EPERM);
    CHECK_ERR(setreuid(-1, 0), EPERM);
    CHECK_ERR(setgid(0), EPERM);
    CHECK_ERR(setgroups(0, NULL), EPERM);
    return 0;
}

static int
for_a_while(void)
{
    OK(seteuid(ID));
    check_users(0, ID, 0);
    CHECK_ERR(setgid(ID), EPERM);
    CHECK_ERR(setresuid(-1, OTHER, -1), EPERM);
    OK(setuid(0)); /* the effective one only: it is an ordinary user */
    check_users(0, 0, 0);
    OK(setresuid(ID, OTHER, 0));
    check_users(ID, OTHER, 0);
    OK(setresuid(-1, 0, -1));
    check_users(ID, 0, 0);
    return 0;
}

static int
with_setre(void)
{
    OK(setregid(ID, OTHER));
    check_groups(ID, OTHER, OTHER);
    OK(setreuid(ID, -1));
    check_users(ID, 0, 0);
    OK(setreuid(-1, ID));
    check_users(ID, ID, 0);
    OK(seteuid(0));
    OK(setreuid(0, OTHER));
    check_users(0, OTHER, OTHER);
    CHECK_ERR(setreuid(ID, -1), EPERM);
    OK(setreuid(OTHER, 0)); /* exchanged */
    check_users(OTHER, 0, 0);
    return 0;
}

static int
with_groups(void)
{
    const gid_t two[] = {OTHER, ID};
    gid_t got[4];

    OK(setgroups(2, two));
    CHECK_EQ(getgroups(0, NULL), 2);
    CHECK_ERR(getgroups(1, got), EINVAL);
    CHECK_EQ(getgroups(4, got), 2);
    CHECK(got[0] + got[1] == OTHER + ID);
    OK(setgroups(0, NULL));
    CHECK_EQ(getgroups(4, got), 0);
    return 0;
}

int
main(void)
{
    int (*const parts[])(void) = {for_good, for_a_while, with_setre,
                                  with_groups};

    CHECK_EQ(geteuid(), 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        pid_t pid = OK(fork());
        if (pid == 0)
            _exit(parts[i]());
        CHECK_EQ(wait_exit(pid), 0);
    }
    return 0;
}
