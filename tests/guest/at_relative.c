/* The *at calls start at their directory, wherever the process is. */
#include "guest.h"

int
main(void)
{
    char buf[8];
    struct stat st;

    tmpdir();
    OK(mkdir("d", 0755));
    int d = OK(open("d", O_RDONLY | O_DIRECTORY));
    OK(chdir("/"));
    OK(mkdirat(d, "sub", 0700));
    int fd = OK(openat(d, "sub/f", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(write(fd, "abc", 3), 3);
    OK(symlinkat("sub/f", d, "l"));
    CHECK_EQ(readlinkat(d, "l", buf, sizeof buf), 5);
    OK(fstatat(d, "l", &st, 0));
    CHECK_EQ(st.st_size, 3);
    OK(fstatat(d, "l", &st, AT_SYMLINK_NOFOLLOW));
    CHECK(S_ISLNK(st.st_mode));
    OK(fstatat(fd, "", &st, AT_EMPTY_PATH));
    CHECK_EQ(st.st_size, 3);
    OK(fstatat(d, "", &st, AT_EMPTY_PATH));
    CHECK(S_ISDIR(st.st_mode));
    CHECK_ERR(fstatat(d, "", &st, 0), ENOENT);
    CHECK_ERR(fstatat(d, "l", &st, 0x40000000), EINVAL);
    OK(linkat(d, "sub/f", d, "hard", 0));
    OK(faccessat(d, "hard", R_OK, 0));
    OK(mkfifoat(d, "p", 0600));
    OK(fchmodat(d, "p", 0644, 0));
    OK(fchownat(d, "p", (uid_t)-1, (gid_t)-1, 0));
    OK(renameat(d, "hard", d, "sub/hard"));
    OK(unlinkat(d, "sub/hard", 0));
    OK(unlinkat(d, "sub/f", 0));
    OK(unlinkat(d, "sub", AT_REMOVEDIR));
    OK(fstatat(d, "../d/p", &st, 0));
    return 0;
}
