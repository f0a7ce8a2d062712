/* Loads libmicrohttpd and finds its functions. The header is needed to compile;
 * the library itself only if HTTP is enabled. */
#include "supervisor/front/mhd.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define X(name) {"MHD_" #name, offsetof(struct mhd, name)},
    MHD_FUNCTIONS(X)
#undef X
};

/* A missing function means a version that is too old. */
int
mhd_load(struct mhd *m)
{
    m->library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    if (!m->library)
        return -ENOENT;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void **at = (void **)((char *)m + functions[i].offset);
        *at = dlsym(m->library, functions[i].name);
        if (!*at)
            return -ENOSYS;
    }
    return 0;
}
