/* Memory that was given back is zero when it is given again, whatever became of
 * it meanwhile, and nothing else changes. */
#include "guest.h"

#include <sys/mman.h>

int malloc_trim(size_t pad); /* not in musl's headers */

#define AREAS  48
#define STEPS  6000
#define PAGE   4096u
#define LIMITS (sizeof limits / sizeof *limits)

struct area {
    unsigned char *at;
    size_t len;
    unsigned char mark;
    int is_mapped; /* by mmap, else by calloc */
};

/* Small pieces, ones larger than a MiB, and so many that the heap outgrows what
 * describes it; then few, so that it shrinks again. */
static const struct limit {
    size_t pages;
    unsigned areas;
} limits[] = {{4, AREAS}, {400, AREAS}, {8, 3}, {90, AREAS}, {2, 1}};

static unsigned state = 1;

static unsigned
chance(unsigned n)
{
    state = state * 1103515245u + 12345u;
    return (state >> 8) % n;
}

static int
is_all(const unsigned char *p, size_t len, unsigned char byte)
{
    return p[0] == byte && memcmp(p, p + 1, len - 1) == 0;
}

static void
take(struct area *a, const struct limit *limit)
{
    a->is_mapped = chance(2) == 0;
    a->len = (1 + chance((unsigned)limit->pages)) * PAGE;
    a->mark = (unsigned char)(1 + chance(255));
    if (a->is_mapped) {
        a->at = mmap(NULL, a->len, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(a->at != MAP_FAILED);
    } else {
        a->at = calloc(a->len, 1);
        CHECK(a->at);
    }
    CHECK(is_all(a->at, a->len, 0));
    memset(a->at, a->mark, a->len);
}

static void
give_back(struct area *a)
{
    CHECK(is_all(a->at, a->len, a->mark));
    if (a->is_mapped)
        OK(munmap(a->at, a->len));
    else
        free(a->at);
    a->at = NULL;
}

/* The first half only, as munmap allows. */
static void
give_back_half(struct area *a)
{
    size_t half = a->len / PAGE / 2 * PAGE;

    if (!a->is_mapped || half == 0)
        return;
    OK(munmap(a->at, half));
    a->at += half;
    a->len -= half;
}

int
main(void)
{
    struct area areas[AREAS] = {0};

    for (unsigned i = 0; i < STEPS; i++) {
        const struct limit *limit = &limits[i / 300 % LIMITS];
        struct area *a = &areas[chance(AREAS)];

        if (a->at && chance(4) == 0)
            give_back_half(a);
        else if (a->at)
            give_back(a);
        else if (a < areas + limit->areas)
            take(a, limit);
        if (chance(20) == 0)
            malloc_trim(0);
    }
    for (unsigned i = 0; i < AREAS; i++)
        if (areas[i].at)
            give_back(&areas[i]);
    return 0;
}
