/* fexecve starts the program behind a descriptor, whatever its name now. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char *args[] = {"child", "x", NULL};
    int fd;

    if (argc > 1) {
        CHECK_STR(argv[1], "x");
        CHECK_STR(getenv("ONLY"), "one");
        return 0;
    }
    fd = OK(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    char *env[] = {"ONLY=one", NULL};
    CHECK_ERR(fexecve(99, args, env), EBADF);
    OK(fexecve(fd, args, env));
    return 1;
}
