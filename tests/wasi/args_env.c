/* args: first "" "with space" */
/* options: --env EMPTY= --env NAME=some=value */
/* status: 42 */
/* main's arguments, getenv, and an exit status. */
#include "check.h"

int
main(int argc, char **argv)
{
    CHECK(argc == 4);
    CHECK(!strcmp(argv[1], "first"));
    CHECK(!strcmp(argv[2], ""));
    CHECK(!strcmp(argv[3], "with space"));
    CHECK(!argv[4]);
    CHECK(!strcmp(getenv("EMPTY"), ""));
    CHECK(!strcmp(getenv("NAME"), "some=value"));
    CHECK(!getenv("NONE"));
    CHECK(setenv("NONE", "now", 1) == 0 && !strcmp(getenv("NONE"), "now"));
    return 42;
}
