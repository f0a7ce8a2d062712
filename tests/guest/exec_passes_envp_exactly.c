/* The new program gets the given environment: order, oddities, nothing else. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char *odd[] = {"B=2", "A=1", "NOEQUALS", "=x", "A=dup", "EMPTY=", NULL};
    char *none[] = {NULL};
    char *args[] = {"child", "odd", NULL};
    pid_t pid;
    int i;

    if (argc > 1 && strcmp(argv[1], "odd") == 0) {
        for (i = 0; odd[i]; i++)
            CHECK_STR(environ[i], odd[i]);
        CHECK(environ[i] == NULL);
        CHECK_STR(getenv("A"), "1");
        CHECK_STR(getenv("EMPTY"), "");
        CHECK(getenv("HOME") == NULL);
        return 0;
    }
    if (argc > 1) {
        CHECK(environ == NULL || environ[0] == NULL);
        return 0;
    }
    errno = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, odd);
    CHECK(errno == 0);
    CHECK_EQ(wait_exit(pid), 0);

    args[1] = "none";
    errno = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, none);
    CHECK(errno == 0);
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}
