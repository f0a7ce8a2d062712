/* A directory with 20,000 entries is made, searched, listed and removed
 * before the test is given up. */
#include "guest.h"

#define N 20000

int
main(void)
{
    char name[32];
    struct dirent *e;
    int n = 0;

    tmpdir();
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "entry-%d", i);
        if (i % 10 == 0) /* some are files, the others links of the first */
            OK(close(open(name, O_WRONLY | O_CREAT | O_EXCL, 0644)));
        else
            OK(link("entry-0", name));
    }
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "entry-%d", (i * 7919) % N);
        CHECK(exists(name));
    }
    CHECK(!exists("entry-"));
    DIR *d = opendir(".");
    while ((e = readdir(d)))
        n++;
    CHECK_EQ(n, N + 2);
    OK(closedir(d));
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "entry-%d", (i * 7919) % N);
        OK(unlink(name));
    }
    return 0;
}
