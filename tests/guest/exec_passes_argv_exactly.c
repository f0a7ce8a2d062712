/* execve hands over every argument byte for byte, empty ones too. */
#include "proc.h"

#define LONG 100000

static char big[LONG + 1];

int
main(int argc, char **argv)
{
    const char *args[] = {"",        "a b", "\xff\x01\n", "",
                          "*?'\"\\", big,   "",           NULL};
    char *none[] = {NULL};
    pid_t pid;
    int i;

    memset(big, 'x', LONG);
    if (argc > 1) {
        CHECK_EQ(argc, 7);
        for (i = 0; i < argc; i++)
            CHECK_STR(argv[i], args[i]);
        CHECK(argv[argc] == NULL);
        return 7;
    }
    if (argc == 1 && argv[0][0] == 0) {
        CHECK(argv[1] == NULL); /* an empty argv becomes {""} */
        return 8;
    }
    CHECK_EQ(run("/proc/self/exe", args), 7);

    pid = OK(vfork());
    if (pid == 0) {
        execve("/proc/self/exe", none, environ);
        _exit(1);
    }
    CHECK_EQ(wait_exit(pid), 8);
    return 0;
}
