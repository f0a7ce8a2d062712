/* Extended attributes of users: by path, by link, by descriptor. */
#include "guest.h"

#include <sys/utsname.h>
#include <sys/xattr.h>

/* Natively, not every file system has them. */
static int
has_none(void)
{
    struct utsname u;

    OK(uname(&u));
    return strcmp(u.machine, "wasm32") != 0 &&
           setxattr("f", "user.try", "", 0, 0) < 0 && errno == ENOTSUP;
}

int
main(void)
{
    char buf[64];
    int fd;

    put("f", "text");
    if (has_none())
        return 0;
    removexattr("f", "user.try");
    CHECK_ERR(getxattr("f", "user.a", buf, sizeof buf), ENODATA);
    OK(setxattr("f", "user.a", "hello", 5, XATTR_CREATE));
    CHECK_ERR(setxattr("f", "user.a", "x", 1, XATTR_CREATE), EEXIST);
    CHECK_ERR(setxattr("f", "user.b", "x", 1, XATTR_REPLACE), ENODATA);
    CHECK_EQ(getxattr("f", "user.a", NULL, 0), 5);
    CHECK_EQ(getxattr("f", "user.a", buf, sizeof buf), 5);
    CHECK(memcmp(buf, "hello", 5) == 0);
    CHECK_ERR(getxattr("f", "user.a", buf, 4), ERANGE);

    fd = OK(open("f", O_RDONLY));
    OK(fsetxattr(fd, "user.b", "", 0, 0));
    CHECK_EQ(fgetxattr(fd, "user.b", buf, sizeof buf), 0);
    CHECK_EQ(listxattr("f", NULL, 0), 14);
    CHECK_EQ(flistxattr(fd, buf, sizeof buf), 14);
    CHECK(strcmp(buf, "user.a") == 0 || strcmp(buf, "user.b") == 0);
    CHECK_ERR(flistxattr(fd, buf, 13), ERANGE);
    OK(fremovexattr(fd, "user.b"));
    CHECK_ERR(fremovexattr(fd, "user.b"), ENODATA);

    OK(symlink("f", "link"));
    CHECK_EQ(getxattr("link", "user.a", buf, sizeof buf), 5);
    CHECK_ERR(lsetxattr("link", "user.a", "x", 1, 0), EPERM);
    CHECK_ERR(lgetxattr("link", "user.a", buf, sizeof buf), ENODATA);
    CHECK_EQ(llistxattr("link", buf, sizeof buf), 0);
    CHECK_ERR(lremovexattr("link", "user.a"), EPERM);

    OK(rename("f", "g"));
    CHECK_EQ(getxattr("g", "user.a", buf, sizeof buf), 5);
    OK(mkdir("d", 0755));
    OK(setxattr("d", "user.dir", "1", 1, 0));
    CHECK_EQ(getxattr("d", "user.dir", buf, sizeof buf), 1);

    CHECK_ERR(setxattr("none", "user.a", "", 0, 0), ENOENT);
    CHECK_ERR(setxattr("g", "user.a", "", 0, 8), EINVAL);
    CHECK_ERR(setxattr("g", "user.", "", 0, 0), EINVAL);
    CHECK_ERR(setxattr("g", "", "", 0, 0), ERANGE);
    CHECK_ERR(setxattr("g", "nothing.a", "", 0, 0), ENOTSUP);
    CHECK_ERR(setxattr("g", "user.a", "", 65537, 0), E2BIG);
    CHECK_ERR(fsetxattr(-1, "user.a", "", 0, 0), EBADF);
    OK(removexattr("g", "user.a"));
    CHECK_ERR(getxattr("g", "user.a", buf, sizeof buf), ENODATA);
    return 0;
}
