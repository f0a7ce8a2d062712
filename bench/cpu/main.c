/* Runs each kernel and prints its best time; the results go to stderr as
 * `name result`, to be compared with those of another build. */
#include "../bench.h"
#include "kernels.h"

static uint32_t result;

#define KERNEL(name)              \
    static void once_##name(void) \
    {                             \
        result = kernel_##name(); \
    }
#include "kernels.def"
#undef KERNEL

static void
run(const char *name, void (*once)(void))
{
    double ns = best_ns(once, 1);

    report(name, ns / 1e6, "ms");
    fprintf(stderr, "%s %08x\n", name, (unsigned)result);
}

int
main(void)
{
#define KERNEL(name) run(#name, once_##name);
#include "kernels.def"
#undef KERNEL
    return 0;
}
