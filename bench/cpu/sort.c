/* Quicksort that compares through a pointer. */
#include "kernels.h"

enum { N = 8000, SMALL = 12 };

typedef int compare(const void *a, const void *b);

static int v[N];

static int
by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

static void
swap(int *a, int *b)
{
    int t = *a;

    *a = *b;
    *b = t;
}

static void
insert(int *p, int n, compare *c)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && c(&p[j - 1], &p[j]) > 0; j--)
            swap(&p[j - 1], &p[j]);
}

static void
sort(int *p, int n, compare *c)
{
    while (n > SMALL) {
        int pivot = p[n / 2], i = 0, j = n - 1;
        while (i <= j) {
            while (c(&p[i], &pivot) < 0)
                i++;
            while (c(&p[j], &pivot) > 0)
                j--;
            if (i <= j)
                swap(&p[i++], &p[j--]);
        }
        sort(p, j + 1, c);
        p += i;
        n -= i;
    }
    insert(p, n, c);
}

uint32_t
kernel_sort(void)
{
    uint32_t seed = 7, sum = 0;
    compare *volatile c = by_value;

    for (int i = 0; i < N; i++)
        v[i] = (int)next_random(&seed);
    sort(v, N, c);
    for (int i = 0; i < N; i++)
        sum = sum * 31 + (uint32_t)v[i];
    return sum;
}
