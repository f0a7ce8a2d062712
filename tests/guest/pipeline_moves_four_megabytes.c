/* source | add one | copy in odd sizes | sum: four processes, 4 MB, one sum. */
#include "proc.h"

#define TOTAL (4 << 20)

static int
source(int out)
{
    unsigned char buf[5000];
    unsigned done = 0, n, i;

    for (; done < TOTAL; done += n) {
        n = TOTAL - done < sizeof buf ? TOTAL - done : sizeof buf;
        for (i = 0; i < n; i++)
            buf[i] = (unsigned char)((done + i) * 2654435761u >> 24);
        CHECK_EQ(write(out, buf, n), n);
    }
    return 0;
}

static int
filter(int in, int out, size_t size, int add)
{
    unsigned char buf[70000];
    ssize_t n, i;

    while ((n = OK(read(in, buf, size))) > 0) {
        for (i = 0; i < n; i++)
            buf[i] = (unsigned char)(buf[i] + add);
        CHECK_EQ(write(out, buf, (size_t)n), n);
    }
    return 0;
}

int
main(int argc, char **argv)
{
    static const char *part[] = {"source", "add", "copy"};
    unsigned char buf[8192];
    unsigned long done = 0;
    int p[2], in = -1, i;
    pid_t pids[3];
    ssize_t n;

    if (argc > 1 && strcmp(argv[1], "source") == 0)
        return source(atoi(argv[3]));
    if (argc > 1 && strcmp(argv[1], "add") == 0)
        return filter(atoi(argv[2]), atoi(argv[3]), 70000, 1);
    if (argc > 1)
        return filter(atoi(argv[2]), atoi(argv[3]), 1237, 0);
    for (i = 0; i < 3; i++) {
        report_pipe(p);
        pids[i] = SPAWN(part[i], num(in), num(p[1]));
        OK(close(p[1]));
        if (in >= 0)
            OK(close(in));
        in = p[0];
        OK(fcntl(in, F_SETFD, 0)); /* for the next child */
    }
    while ((n = OK(read(in, buf, sizeof buf))) > 0)
        for (i = 0; i < n; i++, done++)
            CHECK_EQ(buf[i],
                     (unsigned char)(((unsigned)done * 2654435761u >> 24) + 1));
    CHECK_EQ(done, TOTAL);
    for (i = 0; i < 3; i++)
        CHECK_EQ(wait_exit(pids[i]), 0);
    return 0;
}
