/* needs: /bin/sh */
/* popen connects one end of a command; pclose returns its wait status. */
#include "proc.h"

int
main(void)
{
    char line[64];
    FILE *f, *g;
    int r;

    tmpdir();
    f = popen("echo one; echo $X; exit 4", "r");
    CHECK(f != NULL);
    CHECK_STR(fgets(line, sizeof line, f), "one\n");
    CHECK_STR(fgets(line, sizeof line, f), "\n");
    CHECK(fgets(line, sizeof line, f) == NULL);
    r = pclose(f);
    CHECK(WIFEXITED(r) && WEXITSTATUS(r) == 4);

    OK(setenv("X", "env", 1));
    f = popen("read a; echo $a $X > out", "w");
    g = popen("read b; echo $b > out2", "w"); /* must not hold f's pipe */
    CHECK(f != NULL && g != NULL);
    CHECK(fputs("text\n", f) >= 0);
    CHECK_EQ(pclose(f), 0);
    CHECK_FILE("out", "text env\n");
    CHECK_EQ(pclose(g), 0);
    return 0;
}
