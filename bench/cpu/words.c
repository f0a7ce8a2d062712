/* Counts words in a hash table of strings. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, WORDS = 15000, DISTINCT = 3000 };

struct word {
    struct word *next;
    uint32_t count;
    char text[];
};

static struct word *table[BUCKETS];

static uint32_t
hash(const char *s)
{
    uint32_t h = 2166136261u;

    while (*s)
        h = (h ^ (uint8_t)*s++) * 16777619u;
    return h;
}

static void
count(const char *text)
{
    struct word **at = &table[hash(text) % BUCKETS];

    for (struct word *w = *at; w; w = w->next)
        if (!strcmp(w->text, text)) {
            w->count++;
            return;
        }
    size_t len = strlen(text);
    struct word *w = malloc(sizeof *w + len + 1);
    if (!w)
        abort();
    w->count = 1;
    w->next = *at;
    memcpy(w->text, text, len + 1);
    *at = w;
}

static void
spell(char *to, uint32_t n)
{
    uint32_t seed = n;
    size_t len = 3 + n % 9;

    for (size_t i = 0; i < len; i++)
        to[i] = (char)('a' + next_random(&seed) % 26);
    to[len] = 0;
}

static uint32_t
sum_and_free(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < BUCKETS; i++)
        while (table[i]) {
            struct word *w = table[i];
            sum += hash(w->text) * w->count;
            table[i] = w->next;
            free(w);
        }
    return sum;
}

uint32_t
kernel_words(void)
{
    uint32_t seed = 3;
    char text[16];

    for (int i = 0; i < WORDS; i++) {
        spell(text, next_random(&seed) % DISTINCT);
        count(text);
    }
    return sum_and_free();
}
