/* SPDX-License-Identifier: MIT */
/* qsort as GNU's: a merge sort, so that what compares equal keeps its order.
 * Where there is no memory for it, a heap sort. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libc.h"

#define FEW         8 /* so many are sorted by insertion */
#define STACK_BYTES 1024

struct sort {
    size_t width;
    int (*compare)(const void *, const void *, void *);
    void *arg;
    unsigned char *spare; /* space for all elements */
};

static int
is_after(const struct sort *s, const void *a, const void *b)
{
    return s->compare(a, b, s->arg) > 0;
}

static void
insertion_sort(const struct sort *s, unsigned char *v, size_t n)
{
    size_t w = s->width;

    for (size_t i = 1; i < n; i++) {
        size_t to = i;
        while (to > 0 && is_after(s, v + (to - 1) * w, v + i * w))
            to--;
        if (to == i)
            continue;
        memcpy(s->spare, v + i * w, w);
        memmove(v + (to + 1) * w, v + to * w, (i - to) * w);
        memcpy(v + to * w, s->spare, w);
    }
}

/* The sorted [0, half) and [half, n) become one; the first half moves aside. */
static void
merge(const struct sort *s, unsigned char *v, size_t half, size_t n)
{
    size_t w = s->width;
    unsigned char *a = s->spare, *a_end = a + half * w;
    unsigned char *b = v + half * w, *b_end = v + n * w;

    if (!is_after(s, b - w, b))
        return;
    memcpy(a, v, half * w);
    while (a < a_end && b < b_end) {
        unsigned char **from = is_after(s, a, b) ? &b : &a;
        memcpy(v, *from, w);
        *from += w;
        v += w;
    }
    memcpy(v, a, a_end - a);
}

static void
merge_sort(const struct sort *s, unsigned char *v, size_t n)
{
    if (n <= FEW) {
        insertion_sort(s, v, n);
        return;
    }
    merge_sort(s, v, n / 2);
    merge_sort(s, v + n / 2 * s->width, n - n / 2);
    merge(s, v, n / 2, n);
}

static void
swap(unsigned char *a, unsigned char *b, size_t w)
{
    while (w--) {
        unsigned char c = *a;
        *a++ = *b;
        *b++ = c;
    }
}

static void
sift_down(const struct sort *s, unsigned char *v, size_t at, size_t n)
{
    size_t w = s->width, child;

    for (; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_after(s, v + (child + 1) * w, v + child * w))
            child++;
        if (!is_after(s, v + child * w, v + at * w))
            return;
        swap(v + at * w, v + child * w, w);
    }
}

static void
heap_sort(const struct sort *s, unsigned char *v, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(s, v, i, n);
    for (size_t i = n; i-- > 1;) {
        swap(v, v + i * s->width, s->width);
        sift_down(s, v, 0, i);
    }
}

void
__qsort_r(void *base, size_t n, size_t width,
          int (*compare)(const void *, const void *, void *), void *arg)
{
    unsigned char few[STACK_BYTES];
    size_t bytes = n * width;
    struct sort s = {width, compare, arg, few};

    if (n < 2 || !width)
        return;
    if (bytes > sizeof few)
        s.spare = malloc(bytes);
    if (!s.spare) {
        heap_sort(&s, base, n);
        return;
    }
    merge_sort(&s, base, n);
    if (s.spare != few)
        free(s.spare);
}

weak_alias(__qsort_r, qsort_r);
