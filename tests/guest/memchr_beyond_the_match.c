/* memchr and its kin read nothing behind what they find, so that a length may
 * be larger than what there is. */
#include "guest.h"

#include <sys/mman.h>

/* Where memory ends, with a page before it. */
static char *
end_of_memory(void)
{
#ifdef __wasm__
    return (char *)((__builtin_wasm_memory_grow(0, 1) + 1) << 16);
#else
    char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(p != MAP_FAILED);
    OK(mprotect(p + 4096, 4096, PROT_NONE));
    return p + 4096;
#endif
}

int
main(void)
{
    char *end = end_of_memory(), text[8];

    memset(end - 4096, 'a', 4096);
    end[-1] = 0;
    for (size_t n = 1; n < 300; n++)
        for (size_t more = 0; more < 200; more++) {
            CHECK(memchr(end - n, 0, n + more) == end - 1);
            CHECK_EQ(strnlen(end - n, n + more), n - 1);
        }
    CHECK_EQ(snprintf(text, sizeof text, "%.100s", end - 5), 4);
    return 0;
}
