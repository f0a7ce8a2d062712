/* Leaks that lint-tidy must report: `make lint-leaks` fails if it does not. */
#include "base/own.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    char *a, *b;
};

struct pair *leaks_pair_new(const char *a, const char *b);
int leaks_on_an_early_return(size_t n, char *ret);

struct pair *
leaks_pair_new(const char *a, const char *b)
{
    struct pair *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->a = strdup(a);
    p->b = strdup(b);
    if (!p->a || !p->b)
        return NULL; /* leak: p */
    return p;
}

int
leaks_on_an_early_return(size_t n, char *ret)
{
    char *p = malloc(n);

    if (!p)
        return -1;
    if (n > 100)
        return -1; /* leak: p */
    *ret = p[n - 1];
    free(p);
    return 0;
}
