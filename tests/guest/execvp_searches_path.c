/* execvp tries the folders of PATH, goes past EACCES, and knows slashes. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char *args[] = {"prog", "x", NULL};
    pid_t pid;

    if (argc > 2) {
        CHECK_STR(argv[1], "b/prog");
        return 5;
    }
    as_user();
    tmpdir();
    OK(mkdir("a", 0755));
    OK(mkdir("b", 0755));
    put("a/prog", "not executable");
    put("a/only", "not executable");
    put_script("b/prog", self_path(), "");
    OK(setenv("PATH", "/no/such/dir:a:b", 1));
    errno = posix_spawnp(&pid, "prog", NULL, NULL, args, environ);
    CHECK(errno == 0);
    CHECK_EQ(wait_exit(pid), 5);

    CHECK_ERR(execvp("only", args), EACCES);
    CHECK_ERR(execvp("none", args), ENOENT);
    CHECK_ERR(execvp("", args), ENOENT);
    CHECK_ERR(execvp("./prog", args), ENOENT);
    return 0;
}
