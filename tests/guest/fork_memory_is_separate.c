/* post: fork */
/* After fork, writes to globals, heap and stack are private to each side. */
#include "proc.h"

static int global = 1;

int
main(void)
{
    volatile int local = 2;
    int *heap = malloc(sizeof *heap);
    pid_t pid, parent = getpid();
    int p[2];

    CHECK(heap != NULL);
    *heap = 3;
    OK(pipe(p));
    pid = OK(fork());
    if (pid == 0) {
        CHECK(global == 1 && local == 2 && *heap == 3);
        global = 10;
        local = 20;
        *heap = 30;
        CHECK(getppid() == parent && getpid() != parent);
        say(p[1], 'w');
        CHECK(malloc(100000) != NULL);
        return global + local + *heap;
    }
    CHECK_EQ(hear(p[0]), 'w');
    CHECK(global == 1 && local == 2 && *heap == 3);
    global = 5;
    CHECK_EQ(wait_exit(pid), 60);
    free(heap);
    return 0;
}
