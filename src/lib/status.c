/* wsand_status: resource use of a sandbox, and its limits.
 *
 * The function does not wait for the lease: all figures are counters that other
 * threads may read while the sandbox runs. They need not be consistent with
 * each other. */
#include "base/counter.h"
#include "kernel/kernel.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/sandbox.h"
#include "lib/sized.h"

/* The root's tree counts the files of all writable mounts, because they share
 * its quota. */
int
wsand_status(const struct wsand_sandbox *sb, struct wsand_status *ret,
             struct wsand_error *err)
{
    int r = sized_check(ret, "wsand_status", err);

    if (r < 0)
        return r;
    const struct kernel *k = sb->kernel;
    const struct limits *l = &k->limits;
    const struct quota used = tree_used(tmpfs_tree(mount_root(&k->vfs)->fs));

    const struct wsand_status status = {
        .processes = COUNTER_GET(l->used[LIMIT_processes]),
        .memory_bytes = COUNTER_GET(l->used[LIMIT_memory]),
        .files = used.inodes,
        .file_bytes = used.bytes,
        .snapshots = COUNTER_GET(sb->n_snapshots),
        .cpu_ms = (uint64_t)(COUNTER_GET(k->cpu_ns) / NS_PER_MS),
        .max = {.processes = l->max[LIMIT_processes],
                .memory_bytes = l->max[LIMIT_memory],
                .files = l->max[LIMIT_files],
                .file_bytes = l->max[LIMIT_file_bytes],
                .snapshots = sb->options.snapshots,
                .cpu_ms = l->max[LIMIT_cpu]},
    };
    sized_give(ret, &status, sizeof status);
    return 0;
}
