/* glob and scandir find and sort names. */
#include "guest.h"

#include <glob.h>

static int
no_dots(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

int
main(void)
{
    struct dirent **list;
    glob_t g;

    tmpdir();
    put("b.c", "");
    put("a.c", "");
    put("a.h", "");
    put(".hidden.c", "");
    OK(mkdir("d", 0755));
    put("d/x.c", "");
    CHECK_EQ(glob("*.c", 0, NULL, &g), 0);
    CHECK_EQ(g.gl_pathc, 2);
    CHECK_STR(g.gl_pathv[0], "a.c");
    CHECK_STR(g.gl_pathv[1], "b.c");
    globfree(&g);
    CHECK_EQ(glob("*/[x-z].?", 0, NULL, &g), 0);
    CHECK_STR(g.gl_pathv[0], "d/x.c");
    globfree(&g);
    CHECK_EQ(glob("*.none", 0, NULL, &g), GLOB_NOMATCH);
    CHECK_EQ(glob("*.none", GLOB_NOCHECK, NULL, &g), 0);
    CHECK_STR(g.gl_pathv[0], "*.none");
    globfree(&g);
    CHECK_EQ(glob("d*", GLOB_MARK, NULL, &g), 0);
    CHECK_STR(g.gl_pathv[0], "d/");

    CHECK_EQ(scandir(".", &list, no_dots, alphasort), 4);
    CHECK_STR(list[0]->d_name, "a.c");
    CHECK_STR(list[3]->d_name, "d");
    CHECK_ERR(scandir("none", &list, NULL, NULL), ENOENT);
    return 0;
}
