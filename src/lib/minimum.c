/* The minimum memory with which the shell starts. It depends on the root image,
 * so it is measured, by a command that does nothing in a sandbox of its own.
 * This happens when a small limit is asked for; above ENOUGH_BYTES any shell
 * fits. */
#include "lib/runtime.h"

#include "lib/error.h"
#include "lib/sandbox.h"

#include <errno.h>

enum { MIB = 1 << 20, ENOUGH_BYTES = 64 * MIB };

static int
minimum_measure(struct wsand_runtime *rt, const struct root_image *i,
                uint64_t *ret, struct wsand_error *err)
{
    const struct wsand_options o = {.size = sizeof o, .image = i->name};
    const struct wsand_run run = {
        .size = sizeof run, .command = ":", .command_len = 1};
    struct wsand_output out = {.size = sizeof out};
    struct wsand_sandbox *sb = NULL;

    int r = wsand_sandbox_new(rt, &o, &sb, err);
    if (r == 0)
        r = wsand_run(sb, &run, &out, err);
    if (r == 0)
        *ret = (out.max_memory_bytes + MIB - 1) / MIB * MIB;
    wsand_output_free(&out);
    wsand_sandbox_free(sb);
    return r;
}

/* Two threads may measure at the same time; they get the same result. */
int
minimum_check(struct wsand_runtime *rt, struct root_image *i,
              uint64_t memory_bytes, struct wsand_error *err)
{
    uint64_t least = i->shell.least_bytes;

    if (memory_bytes >= ENOUGH_BYTES)
        return 0;
    if (!least) {
        int r = minimum_measure(rt, i, &least, err);
        if (r < 0)
            return r == -ENOEXEC ? 0 : r; /* there is no shell */
        i->shell.least_bytes = least;
    }
    if (memory_bytes >= least)
        return 0;
    return error_set(err, EINVAL,
                     "limit memory: %llu bytes are too few for the shell; the "
                     "minimum is %llu bytes (%llu MiB)",
                     (unsigned long long)memory_bytes,
                     (unsigned long long)least,
                     (unsigned long long)(least / MIB));
}
