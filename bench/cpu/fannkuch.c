/* How often prefixes of permutations must be turned round until a 0 leads. */
#include "kernels.h"

#include <string.h>

enum { N = 8 };

static int
flips_of(const int *perm)
{
    int p[N], flips = 0;

    memcpy(p, perm, sizeof p);
    for (int first; (first = p[0]); flips++)
        for (int i = 0, j = first; i < j; i++, j--) {
            int t = p[i];
            p[i] = p[j];
            p[j] = t;
        }
    return flips;
}

/* The next permutation: turns ever longer prefixes by one place. */
static int
next(int *perm, int *count)
{
    for (int r = 1; r < N; r++) {
        int first = perm[0];
        for (int i = 0; i < r; i++)
            perm[i] = perm[i + 1];
        perm[r] = first;
        if (--count[r] > 0)
            return 1;
        count[r] = r + 1;
    }
    return 0;
}

uint32_t
kernel_fannkuch(void)
{
    int perm[N], count[N], most = 0;
    uint32_t sum = 0, sign = 1;

    for (int i = 0; i < N; i++) {
        perm[i] = i;
        count[i] = i + 1;
    }
    do {
        int flips = flips_of(perm);
        most = flips > most ? flips : most;
        sum += sign * (uint32_t)flips;
        sign = -sign;
    } while (next(perm, count));
    return sum * 100 + (uint32_t)most;
}
