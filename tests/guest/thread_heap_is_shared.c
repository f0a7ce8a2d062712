/* malloc, realloc, calloc and free in several threads, blocks handed from one
 * to another, and stdio: nothing is damaged or mixed. */
#include "thread.h"

enum { THREADS = 4, SLOTS = 64, ROUNDS = 20000 };
static unsigned char *slot[SLOTS];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;

static void
check_block(unsigned char *p)
{
    size_t n = p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16;

    for (size_t i = 3; i < n; i += 97)
        CHECK_EQ(p[i], (unsigned char)n);
    CHECK_EQ(p[n - 1], (unsigned char)n);
}

static unsigned char *
new_block(unsigned *seed)
{
    size_t n = 8 + rand_r(seed) % (rand_r(seed) % 50 ? 600 : 200000);
    int zeroed = rand_r(seed) % 4 == 0;
    unsigned char *p = zeroed ? calloc(1, n) : malloc(n / 2 + 4);

    CHECK(p != NULL);
    if (zeroed)
        for (size_t i = 0; i < n; i += 31)
            CHECK_EQ(p[i], 0);
    else
        p = realloc(p, n);
    CHECK(p != NULL);
    memset(p, (int)n, n);
    p[0] = (unsigned char)n;
    p[1] = (unsigned char)(n >> 8);
    p[2] = (unsigned char)(n >> 16);
    p[n - 1] = (unsigned char)n;
    return p;
}

static void *
run(void *arg)
{
    unsigned seed = (unsigned)(long)arg;

    for (int i = 0; i < ROUNDS; i++) {
        unsigned char *p = new_block(&seed);
        unsigned at = rand_r(&seed) % SLOTS;
        pthread_mutex_lock(&m);
        unsigned char *old = slot[at];
        slot[at] = p;
        pthread_mutex_unlock(&m);
        if (old)
            check_block(old);
        free(old);
        if (i % 100 == 0)
            fprintf(out, "%ld %ld %ld\n", (long)arg, (long)arg, (long)arg);
    }
    return NULL;
}

int
main(void)
{
    pthread_t t[THREADS];
    long a, b, c;
    int lines = 0;

    out = tmpfile();
    CHECK(out != NULL);
    for (long i = 0; i < THREADS; i++)
        t[i] = thread_start(run, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        thread_join(t[i]);
    rewind(out);
    while (fscanf(out, "%ld %ld %ld", &a, &b, &c) == 3) {
        CHECK(a == b && b == c);
        lines++;
    }
    CHECK_EQ(lines, THREADS * ROUNDS / 100);
    return 0;
}
