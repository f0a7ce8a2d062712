/* post: fork */
/* A pipeline built by fork alone: three stages, 1 MB, end of file passes on. */
#include "proc.h"

#define TOTAL (1 << 20)

static void
stage(int in, int out, int add)
{
    unsigned char buf[3000];
    ssize_t n, i;
    size_t left = TOTAL;

    for (;;) {
        if (in < 0)
            memset(buf, 1, n = left < 3000 ? (ssize_t)left : 3000);
        else
            n = OK(read(in, buf, sizeof buf));
        if (n == 0)
            _exit(0);
        for (i = 0; i < n; i++)
            buf[i] = (unsigned char)(buf[i] + add);
        CHECK_EQ(write(out, buf, (size_t)n), n);
        left -= (size_t)n;
    }
}

int
main(void)
{
    unsigned char buf[8192];
    int p[2], in = -1, i, st;
    size_t total = 0;
    ssize_t n;

    for (i = 0; i < 3; i++) {
        OK(pipe(p));
        if (OK(fork()) == 0) {
            OK(close(p[0]));
            stage(in, p[1], i);
        }
        OK(close(p[1]));
        if (in >= 0)
            OK(close(in));
        in = p[0];
    }
    for (; (n = OK(read(in, buf, sizeof buf))) > 0; total += (size_t)n)
        for (i = 0; i < n; i++)
            CHECK_EQ(buf[i], 1 + 0 + 1 + 2);
    CHECK_EQ(total, TOTAL);
    for (i = 0; i < 3; i++)
        CHECK(OK(wait(&st)) > 0 && st == 0);
    return 0;
}
