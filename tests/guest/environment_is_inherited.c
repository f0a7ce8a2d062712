/* setenv, unsetenv, putenv and clearenv are what a child sees. */
#include "proc.h"

int
main(int argc, char **argv)
{
    static char put_var[] = "PUT=first";

    if (argc > 1 && strcmp(argv[1], "cleared") == 0) {
        CHECK_STR(getenv("AFTER"), "1");
        CHECK(environ[1] == NULL);
        return 0;
    }
    if (argc > 1) {
        CHECK_STR(getenv("SET"), "two");
        CHECK_STR(getenv("KEPT"), "old");
        CHECK_STR(getenv("PUT"), "final");
        CHECK_STR(getenv("EMPTY"), "");
        CHECK(getenv("GONE") == NULL);
        return 0;
    }
    OK(setenv("SET", "one", 1));
    OK(setenv("SET", "two", 1));
    OK(setenv("KEPT", "old", 1));
    OK(setenv("KEPT", "new", 0));
    OK(setenv("EMPTY", "", 1));
    OK(setenv("GONE", "x", 1));
    OK(unsetenv("GONE"));
    OK(putenv(put_var));
    memcpy(put_var + 4, "final", 5);
    CHECK_ERR(setenv("A=B", "x", 1), EINVAL);
    CHECK_ERR(unsetenv(""), EINVAL);
    CHECK_EQ(wait_exit(SPAWN("env")), 0);
    OK(clearenv());
    OK(setenv("AFTER", "1", 1));
    CHECK_EQ(wait_exit(SPAWN("cleared")), 0);
    return 0;
}
