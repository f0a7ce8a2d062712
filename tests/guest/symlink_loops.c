/* A path follows at most 40 symlinks, wherever they are; then ELOOP. */
#include "guest.h"

int
main(void)
{
    char from[16], to[16];
    struct stat st;

    tmpdir();
    put("l0", "end");
    for (int i = 1; i <= 41; i++) {
        snprintf(from, sizeof from, "l%d", i);
        snprintf(to, sizeof to, "l%d", i - 1);
        OK(symlink(to, from));
    }
    CHECK_FILE("l40", "end");
    CHECK_ERR(stat("l41", &st), ELOOP);
    CHECK_ERR(open("l41", O_RDWR | O_CREAT, 0644), ELOOP);
    OK(lstat("l41", &st));

    /* links in the middle of a path count too */
    OK(mkdir("d", 0755));
    OK(symlink(".", "d/s"));
    char path[256] = "d";
    for (int i = 0; i < 40; i++)
        strcat(path, "/s");
    OK(stat(path, &st));
    CHECK(S_ISDIR(st.st_mode));
    strcat(path, "/s");
    CHECK_ERR(stat(path, &st), ELOOP);
    OK(lstat(path, &st)); /* its last one is not followed */

    OK(symlink("self", "self"));
    CHECK_ERR(stat("self", &st), ELOOP);
    CHECK_ERR(chdir("self"), ELOOP);
    CHECK_ERR(open("self/x", O_RDONLY), ELOOP);
    OK(unlink("self"));
    return 0;
}
