/* realpath removes dots, slashes and symlinks and says what is missing. */
#include "guest.h"

int
main(void)
{
    char want[4096], *got;

    const char *dir = tmpdir();
    OK(mkdir("d", 0755));
    put("d/f", "");
    OK(symlink("d", "l"));
    OK(symlink("../l/f", "d/up"));
    OK(symlink("loop", "loop"));
    OK(symlink("none", "dangling"));
    snprintf(want, sizeof want, "%s/d/f", dir);
    const char *same[] = {"d/f",      "l/f",  ".//d/./../d/f",
                          "l/../l/f", "d/up", "d/../l/up"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        got = realpath(same[i], NULL);
        CHECK(got != NULL);
        CHECK_STR(got, want);
        free(got);
    }
    got = realpath(".", NULL);
    CHECK(got && strcmp(got, dir) == 0);
    free(got);
    got = realpath("/../..//", NULL);
    CHECK(got && strcmp(got, "/") == 0);
    free(got);
    CHECK(realpath("none", NULL) == NULL && errno == ENOENT);
    CHECK(realpath("dangling", NULL) == NULL && errno == ENOENT);
    CHECK(realpath("d/f/x", NULL) == NULL && errno == ENOTDIR);
    CHECK(realpath("loop", NULL) == NULL && errno == ELOOP);
    CHECK(realpath("", NULL) == NULL && errno == ENOENT);
    return 0;
}
