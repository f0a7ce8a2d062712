/* access checks modes in the right order and treats directories alike. */
#include "guest.h"

int
main(void)
{
    as_user();
    tmpdir();
    put("f", "");
    OK(access("f", F_OK));
    OK(access("f", R_OK | W_OK));
    CHECK_ERR(access("f", X_OK), EACCES);
    OK(chmod("f", 0500));
    OK(access("f", R_OK | X_OK));
    CHECK_ERR(access("f", R_OK | W_OK), EACCES);
    OK(chmod("f", 0));
    OK(access("f", F_OK));
    CHECK_ERR(access("f", R_OK), EACCES);
    OK(access(".", R_OK | W_OK | X_OK));
    CHECK_ERR(access("none", F_OK), ENOENT);
    CHECK_ERR(access("f/x", F_OK), ENOTDIR);
    CHECK_ERR(access("", F_OK), ENOENT);
    CHECK_ERR(access("none", 8), EINVAL);
    CHECK_ERR(access("f", -1), EINVAL);

    OK(symlink("none", "l"));
    CHECK_ERR(access("l", F_OK), ENOENT);
    OK(faccessat(AT_FDCWD, "l", F_OK, AT_SYMLINK_NOFOLLOW));
    OK(faccessat(AT_FDCWD, ".", R_OK, AT_EACCESS));
    CHECK_ERR(faccessat(AT_FDCWD, "f", R_OK, AT_EACCESS), EACCES);
    CHECK_ERR(faccessat(AT_FDCWD, "f", F_OK, 0x40000), EINVAL);
    return 0;
}
