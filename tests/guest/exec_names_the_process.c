/* comm is the first 15 bytes of the name executed: for a script, its own. */
#include "proc.h"

int
main(int argc, char **argv)
{
    const char *args[] = {"renamed", "x", NULL};
    char comm[32], want[32], line[4096];

    if (argc > 1) {
        OK(prctl(PR_GET_NAME, comm));
        CHECK_STR(comm, "a_long_name_of_");
        CHECK_FILE("/proc/self/comm", "a_long_name_of_\n");
        get("/proc/self/cmdline", line, sizeof line);
        CHECK_STR(line, argv[0]);
        CHECK_STR(line + strlen(line) + 1, "./a_long_name_of_a_script");
        return 0;
    }
    OK(prctl(PR_GET_NAME, comm));
    snprintf(want, sizeof want, "%.15s", strrchr(self_path(), '/') + 1);
    CHECK_STR(comm, want);
    tmpdir();
    put_script("a_long_name_of_a_script", self_path(), "");
    CHECK_EQ(run("./a_long_name_of_a_script", args), 0);
    return 0;
}
