/* user: root */
/* post: fork */
/* Root reads, writes and gives away every file; another user has the rights of
 * owner, group and others, in this order. */
#include "proc.h"

enum { ID = 1234, OTHER = 4321 };

static int
as_id(void)
{
    const gid_t more[] = {OTHER};

    OK(setgroups(1, more));
    OK(setgid(ID));
    OK(setuid(ID));
    CHECK_ERR(open("secret", O_RDONLY), EACCES);
    CHECK_ERR(open("closed/f", O_RDONLY), EACCES);
    CHECK_ERR(open("new", O_CREAT | O_WRONLY, 0600), EACCES);
    OK(close(OK(open("grouped", O_RDWR)))); /* by a supplementary group */
    OK(close(OK(open("mine", O_RDWR))));
    CHECK_ERR(chown("mine", OTHER, -1), EPERM);
    OK(chown("mine", -1, OTHER));
    CHECK_ERR(chown("mine", -1, 77), EPERM);
    CHECK_ERR(chmod("secret", 0777), EPERM);
    CHECK_ERR(unlink("secret"), EACCES);
    CHECK_ERR(access("secret", R_OK), EACCES);
    CHECK_ERR(kill(getppid(), 0), EPERM);
    CHECK_ERR(kill(getppid(), SIGTERM), EPERM);
    return 0;
}

/* access asks for the real user, unless it is told not to. */
static int
half_root(void)
{
    OK(setresuid(ID, 0, 0));
    CHECK_ERR(access("secret", R_OK), EACCES);
    OK(faccessat(AT_FDCWD, "secret", R_OK, AT_EACCESS));
    OK(close(OK(open("secret", O_RDONLY))));
    return 0;
}

static void
in_child(int (*part)(void))
{
    pid_t pid = OK(fork());

    if (pid == 0)
        _exit(part());
    CHECK_EQ(wait_exit(pid), 0);
}

int
main(void)
{
    CHECK_EQ(geteuid(), 0);
    tmpdir();
    OK(chmod(".", 0755));
    put("secret", "x");
    OK(chmod("secret", 0));
    OK(close(OK(open("secret", O_RDWR))));
    CHECK_ERR(access("secret", X_OK), EACCES);
    OK(mkdir("closed", 0));
    put("closed/f", "x");
    put("grouped", "x");
    OK(chown("grouped", 0, OTHER));
    OK(chmod("grouped", 0060));
    put("mine", "x");
    OK(chown("mine", ID, ID));
    OK(chmod("mine", 06710));
    CHECK_EQ(stat_of("mine").st_uid, ID);
    in_child(as_id);
    in_child(half_root);
    OK(chown("mine", OTHER, 0)); /* takes the set-id bits away, root's too */
    CHECK_EQ(stat_of("mine").st_mode & 06000, 0);
    OK(chmod("mine", 0));
    OK(unlink("mine"));
    OK(unlink("closed/f"));
    return 0;
}
