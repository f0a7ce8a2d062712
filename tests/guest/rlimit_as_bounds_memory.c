/* RLIMIT_AS: mmap and malloc beyond it fail with ENOMEM, then work again. */
#include "proc.h"

#include <sys/mman.h>

#define BIG (512u << 20)

int
main(void)
{
    struct rlimit rl;
    void *volatile p; /* or the compiler takes malloc for successful */

    OK(getrlimit(RLIMIT_AS, &rl));
    rl.rlim_cur = 64 << 20;
    OK(setrlimit(RLIMIT_AS, &rl));
    p = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
             0);
    CHECK(p == MAP_FAILED);
    CHECK_EQ(errno, ENOMEM);
    p = malloc(BIG);
    CHECK(p == NULL);
    CHECK_EQ(errno, ENOMEM);
    p = OK(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memset((void *)p, 1, 1 << 20);
    OK(munmap(p, 1 << 20));
    p = malloc(100000);
    CHECK(p != NULL);
    free(p);
    return 0;
}
