/* While other entries come and go, an entry that stays is listed exactly
 * once. */
#include "guest.h"

#define N 5000

int
main(void)
{
    static unsigned char seen[N];
    char name[32];
    struct dirent *e;
    int i, step = 0;

    tmpdir();
    put("seed", "");
    for (i = 0; i < N; i++) {
        snprintf(name, sizeof name, "keep%d", i);
        OK(link("seed", name));
        snprintf(name, sizeof name, "drop%d", i);
        OK(link("seed", name));
    }
    DIR *d = opendir(".");
    while ((e = readdir(d))) {
        if (sscanf(e->d_name, "keep%d", &i) == 1)
            seen[i]++;
        if (step >= N)
            continue;
        snprintf(name, sizeof name, "drop%d", N - 1 - step);
        OK(unlink(name));
        snprintf(name, sizeof name, "new%d", step++);
        OK(link("seed", name));
    }
    CHECK_EQ(step, N);
    for (i = 0; i < N; i++)
        CHECK_EQ(seen[i], 1);
    OK(closedir(d));
    return 0;
}
