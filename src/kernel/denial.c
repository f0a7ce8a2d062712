#include "kernel/denial.h"

#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

static bool
denial_is_known(const struct denials *d, const char *host, uint16_t port)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].port == port && !strcmp(d->v[i].host, host))
            return true;
    return false;
}

void
kernel_deny_host(struct kernel *k, uint64_t run_tag, const char *host,
                 uint16_t port, const char *reason)
{
    if (run_tag != k->run_tag)
        return;
    k->was_denied = true;
    if (!k->denials)
        k->denials = calloc(1, sizeof *k->denials);
    struct denials *d = k->denials;
    if (!d || d->n == DENIALS_MAX || denial_is_known(d, host, port))
        return;
    struct denial *v = &d->v[d->n++];
    *v = (struct denial){.port = port, .reason = reason};
    memcpy(v->host, host, strnlen(host, HOSTNAME_MAX));
}
