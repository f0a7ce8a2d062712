/* Two processes pass a counter to and fro 2000 times. */
#include "proc.h"

#define ROUNDS 2000

static void
play(int in, int out, int first)
{
    int n = 0, i;

    if (first)
        CHECK_EQ(write(out, &n, sizeof n), sizeof n);
    for (i = 0; i < ROUNDS; i++) {
        CHECK_EQ(read(in, &n, sizeof n), sizeof n);
        CHECK_EQ(n, first ? 2 * i + 1 : 2 * i);
        n++;
        if (!first || i < ROUNDS - 1)
            CHECK_EQ(write(out, &n, sizeof n), sizeof n);
    }
}

int
main(int argc, char **argv)
{
    int there[2], back[2];
    pid_t pid;

    if (argc > 1) {
        play(atoi(argv[1]), atoi(argv[2]), 0);
        return 0;
    }
    OK(pipe(there));
    OK(pipe(back));
    keep_private(there[1]);
    keep_private(back[0]);
    pid = SPAWN(num(there[0]), num(back[1]));
    OK(close(back[1]));
    play(back[0], there[1], 1);
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(hear(back[0]), -1);
    return 0;
}
