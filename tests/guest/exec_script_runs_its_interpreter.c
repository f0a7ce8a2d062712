/* #!interp: argv becomes {interp, script path, original arguments from 1}. */
#include "proc.h"

int
main(int argc, char **argv)
{
    const char *args[] = {"lost", "one", "two three", NULL};

    if (argc > 1) {
        CHECK_EQ(argc, 4);
        CHECK(argv[0][0] == '/');
        CHECK_STR(argv[1], "./script");
        CHECK_STR(argv[2], "one");
        CHECK_STR(argv[3], "two three");
        return 5;
    }
    tmpdir();
    put_script("script", self_path(), "");
    CHECK_EQ(run("./script", args), 5);

    put_script("script", self_path(), " \t "); /* only blanks: no argument */
    CHECK_EQ(run("./script", args), 5);
    return 0;
}
