/* Primes below half a million. */
#include "kernels.h"

#include <string.h>

enum { N = 500000 };

static unsigned char is_composite[N];

uint32_t
kernel_sieve(void)
{
    uint32_t count = 0;

    memset(is_composite, 0, sizeof is_composite);
    for (uint32_t i = 2; i * i < N; i++) {
        if (is_composite[i])
            continue;
        for (uint32_t j = i * i; j < N; j += i)
            is_composite[j] = 1;
    }
    for (uint32_t i = 2; i < N; i++)
        count += !is_composite[i];
    return count;
}
