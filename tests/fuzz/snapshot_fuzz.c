/* Fuzzes the reader of saved snapshots, behind its hashes: any bytes are
 * refused or become a snapshot, whose files can be restored. */
#include "lib/snapshot_save.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct wsand_sandbox *sb;

/* An empty root image is enough: no shell is run. */
int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char path[] = "/tmp/wasmsand-fuzz-XXXXXX", zeros[1024] = {0};
    struct wsand_runtime_options ro = {
        .size = sizeof ro, .root_image = path, .max_processes = 4};
    struct wsand_options o = {
        .size = sizeof o, .files = 50, .file_bytes = 1 << 20};
    const struct wsand_mount m = {.guest_path = "/m", .is_writable = true};
    struct wsand_runtime *rt;

    (void)argc, (void)argv;
    int fd = mkstemp(path);
    o.mounts = &m;
    o.n_mounts = 1;
    if (fd < 0 || write(fd, zeros, sizeof zeros) != sizeof zeros ||
        wsand_runtime_new(&ro, &rt, NULL) < 0 ||
        wsand_sandbox_new(rt, &o, &sb, NULL) < 0)
        abort();
    (void)close(fd);
    (void)unlink(path);
    return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct saved_head head = {.magic = SAVED_MAGIC};
    uint64_t id;

    char *all = malloc(sizeof head + size);
    if (!all)
        return 0;
    image_hash(sb->runtime, head.image);
    hash_of(data, size, head.body);
    memcpy(all, &head, sizeof head);
    memcpy(all + sizeof head, data, size);
    if (wsand_snapshot_load(sb, all, sizeof head + size, &id, NULL) == 0) {
        (void)wsand_snapshot_restore(sb, id, NULL);
        if (wsand_snapshot_delete(sb, id, NULL) < 0 ||
            wsand_reset(sb, NULL) < 0)
            abort();
    }
    free(all);
    return 0;
}
