/* post: fork */
/* Unflushed stdio output is written by both; atexit handlers run in both. */
#include "proc.h"

static FILE *out;

static void
last(void)
{
    fputs("!", out);
}

int
main(void)
{
    pid_t pid, main_pid = getpid();

    tmpdir();
    out = fopen("out", "w");
    CHECK(out != NULL);
    pid = OK(fork());
    if (pid == 0) { /* a child of its own for the exit of both sides */
        atexit(last);
        fputs("a", out);
        pid = OK(fork());
        if (pid == 0) {
            fputs("b", out);
            exit(0);
        }
        CHECK_EQ(wait_exit(pid), 0);
        fputs("c", out);
        exit(0);
    }
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(getpid(), main_pid);
    CHECK_FILE("out", "ab!ac!");
    return 0;
}
