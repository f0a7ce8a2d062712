/* Names have at most 255 bytes: one more is ENAMETOOLONG everywhere. */
#include "guest.h"

int
main(void)
{
    char ok[256], longer[257], path[600];
    struct stat st;

    tmpdir();
    memset(ok, 'n', 255);
    ok[255] = 0;
    memset(longer, 'n', 256);
    longer[256] = 0;
    put(ok, "x");
    CHECK_FILE(ok, "x");
    CHECK_ERR(open(longer, O_WRONLY | O_CREAT, 0644), ENAMETOOLONG);
    CHECK_ERR(open(longer, O_RDONLY), ENAMETOOLONG);
    CHECK_ERR(stat(longer, &st), ENAMETOOLONG);
    CHECK_ERR(mkdir(longer, 0755), ENAMETOOLONG);
    CHECK_ERR(unlink(longer), ENAMETOOLONG);
    CHECK_ERR(rename(ok, longer), ENAMETOOLONG);
    CHECK_ERR(rename(longer, ok), ENAMETOOLONG);
    CHECK_ERR(link(ok, longer), ENAMETOOLONG);
    CHECK_ERR(symlink("x", longer), ENAMETOOLONG);
    snprintf(path, sizeof path, "%s/%s", "none", longer);
    CHECK_ERR(stat(path, &st), ENOENT); /* the walk never gets there */
    snprintf(path, sizeof path, "%s/..", longer);
    CHECK_ERR(stat(path, &st), ENAMETOOLONG);
    OK(rename(ok, "short"));
    OK(rename("short", ok));
    CHECK_EQ(pathconf(".", _PC_NAME_MAX), 255);

    DIR *d = opendir(".");
    struct dirent *e;
    int seen = 0;
    while ((e = readdir(d)))
        seen += strcmp(e->d_name, ok) == 0;
    CHECK_EQ(seen, 1);
    return 0;
}
