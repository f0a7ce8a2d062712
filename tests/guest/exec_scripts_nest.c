/* An interpreter may be a script itself: arguments are put in front twice. */
#include "proc.h"

int
main(int argc, char **argv)
{
    const char *args[] = {"lost", "tail", NULL};

    if (argc > 1) {
        CHECK_EQ(argc, 6);
        CHECK_STR(argv[1], "in");
        CHECK_STR(argv[2], "./inner");
        CHECK_STR(argv[3], "out");
        CHECK_STR(argv[4], "./outer");
        CHECK_STR(argv[5], "tail");
        return 5;
    }
    tmpdir();
    put_script("inner", self_path(), " in");
    put_script("outer", "./inner", " out");
    CHECK_EQ(run("./outer", args), 5);
    return 0;
}
