/* All that follows the interpreter's name is one argument, blanks trimmed. */
#include "proc.h"

int
main(int argc, char **argv)
{
    const char *args[] = {"lost", "tail", NULL};
    char line[4096];

    if (argc > 1) {
        CHECK_EQ(argc, 4);
        CHECK_STR(argv[1], "-a  b\tc");
        CHECK_STR(argv[2], "./script");
        CHECK_STR(argv[3], "tail");
        return 5;
    }
    tmpdir();
    put_script("script", self_path(), " \t -a  b\tc \t ");
    CHECK_EQ(run("./script", args), 5);

    /* blanks before the interpreter, no newline at the end of the file */
    snprintf(line, sizeof line, "#! \t%s -a  b\tc", self_path());
    put("script", line);
    CHECK_EQ(run("./script", args), 5);
    return 0;
}
