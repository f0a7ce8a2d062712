/* The product of two matrices. */
#include "kernels.h"

#include <string.h>

enum { N = 120 };

static double a[N][N], b[N][N], c[N][N];

static void
fill(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (i + j) % 7;
            b[i][j] = (i - j) % 5;
        }
}

uint32_t
kernel_matmul(void)
{
    double sum = 0;

    fill();
    memset(c, 0, sizeof c);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                c[i][j] += a[i][k] * b[k][j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += c[i][j] * (i + 2 * j);
    return (uint32_t)(int64_t)sum;
}
