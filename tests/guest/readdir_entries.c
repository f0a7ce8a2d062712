/* readdir lists the dots and every entry once, with its type and inode
 * number. */
#include "guest.h"

int
main(void)
{
    struct dirent *e;
    int seen = 0;

    tmpdir();
    put("f", "");
    OK(mkdir("d", 0755));
    OK(symlink("none", "l"));
    OK(mkfifo("p", 0600));
    DIR *dir = opendir(".");
    CHECK(dir != NULL);
    for (errno = 0; (e = readdir(dir)); seen++) {
        CHECK(e->d_type != DT_UNKNOWN);
        CHECK_EQ(DTTOIF(e->d_type), stat_of(e->d_name).st_mode & S_IFMT);
        CHECK_EQ(e->d_ino, stat_of(e->d_name).st_ino);
        if (strlen(e->d_name) == 1 && e->d_name[0] != '.')
            CHECK(strchr("fdlp", e->d_name[0]) != NULL);
    }
    CHECK_EQ(errno, 0);
    CHECK_EQ(seen, 6);
    OK(closedir(dir));

    CHECK(opendir("f") == NULL && errno == ENOTDIR);
    CHECK(opendir("none") == NULL && errno == ENOENT);
    int fd = OK(open("f", O_RDONLY));
    CHECK(fdopendir(fd) == NULL && errno == ENOTDIR);
    CHECK(fdopendir(-1) == NULL && errno == EBADF);
    return 0;
}
