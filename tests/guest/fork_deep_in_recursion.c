/* post: fork */
/* fork 200 frames deep: every frame's locals live on in both processes. */
#include "proc.h"

#define DEPTH 200

static pid_t pid;

static unsigned
dive(unsigned depth, unsigned (*next)(unsigned, void *), void *self)
{
    volatile unsigned mine[4] = {depth, depth * 3, depth ^ 0x55, 7};
    volatile double d = depth / 4.0;
    unsigned below;

    if (depth == 0) {
        pid = OK(fork());
        return pid == 0 ? 1 : 2;
    }
    below = dive(depth - 1, next, self);
    CHECK(mine[0] == depth && mine[1] == depth * 3);
    CHECK(mine[2] == (depth ^ 0x55) && mine[3] == 7);
    CHECK(d == depth / 4.0);
    return below + next(depth, self);
}

static unsigned
plus_two(unsigned depth, void *self)
{
    (void)depth;
    return *(unsigned *)self;
}

int
main(void)
{
    unsigned two = 2, sum = dive(DEPTH, plus_two, &two);

    if (pid == 0)
        _exit(sum == 2 * DEPTH + 1 ? 33 : 1);
    CHECK_EQ(sum, 2 * DEPTH + 2);
    CHECK_EQ(wait_exit(pid), 33);
    return 0;
}
