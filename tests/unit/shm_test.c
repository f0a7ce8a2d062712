/* Shared mappings of processes, their objects and their files. */
#include "world.h"

#include "kernel/shm.h"
#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

enum {
    PAGE = 4096,
    AT = 16 * PAGE,    /* the first mapping */
    OTHER = 64 * PAGE, /* the second one */
    RW = PROT_READ | PROT_WRITE,
    ANON = MAP_SHARED | MAP_ANONYMOUS,
    FUTEX_WAIT = 0,
    FUTEX_WAKE = 1,
};

static int32_t
map(struct task *t, gaddr at, uint32_t pages, int fd, uint32_t first)
{
    return SYS(t, NR_mmap2, at, pages * PAGE, RW, fd < 0 ? ANON : MAP_SHARED,
               (uint32_t)fd, first);
}

/* Makes a file of some pages, open as the next descriptor of t. */
static int
file_of(struct kernel *k, struct task *t, const char *path, uint32_t pages)
{
    CHECK_EQ(world_file(k, path, ""), 0);
    int fd =
        SYS(t, NR_openat, (uint32_t)AT_FDCWD, world_str(t, 0, path), O_RDWR);
    CHECK(fd >= 0);
    CHECK_EQ(SYS(t, NR_ftruncate64, (uint32_t)fd, pages * PAGE, 0), 0);
    return fd;
}

static struct task *
root_task(struct kernel *k)
{
    struct task *t = world_task(k);

    if (t)
        t->as.cred = cred_of(ROOT_ID);
    return t;
}

/* Forks t, as after MACHINE_FORKS; returns the child. */
static struct task *
forked(struct task *t)
{
    int pid;

    task_fork(t->thread);
    pid = fake_of(t->thread)->fork_result;
    return pid > 0 ? task_find(t->kernel, pid) : NULL;
}

TEST(shm_anonymous_memory_is_one_after_fork)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = world_task(k);
    uint64_t before = world_memory(k);

    CHECK_EQ(map(t, AT, 2, -1, 0), AT);
    CHECK_EQ(e.share_bytes, 2 * PAGE);
    CHECK_EQ(world_memory(k), before); /* the object instead of the range */
    world_str(t, AT, "parent");
    world_str(t, OTHER, "private");
    struct task *c = forked(t);
    CHECK(!strcmp(world_at(c, AT), "parent"));
    world_str(c, AT + PAGE, "child");
    world_str(c, OTHER, "changed");
    CHECK(!strcmp(world_at(t, AT + PAGE), "child"));
    CHECK(!strcmp(world_at(t, OTHER), "private"));
    CHECK_EQ(world_memory(k), 2 * before - 2 * PAGE);
    task_exit(c, 0);
    world_run(k);
    CHECK(!strcmp(world_at(t, AT + PAGE), "child"));
    CHECK_EQ(SYS(t, NR_munmap, AT, 2 * PAGE), 0);
    CHECK_EQ(*(char *)world_at(t, AT), 0);
    CHECK_EQ(e.share_bytes, 0);
    CHECK_EQ(k->limits.used[LIMIT_mappings], 0);
    kernel_free(k);
}

TEST(shm_file_calls_and_mappings_agree)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = root_task(k), *u = root_task(k);
    int fd = file_of(k, t, "/f", 3);
    int ufd =
        SYS(u, NR_openat, (uint32_t)AT_FDCWD, world_str(u, 0, "/f"), O_RDWR);

    CHECK_EQ(map(t, AT, 2, fd, 0), AT);
    CHECK_EQ(map(u, OTHER, 3, ufd, 0), OTHER);
    world_str(t, AT + PAGE - 3, "stored");
    CHECK(!strcmp(world_at(u, OTHER + PAGE - 3), "stored"));
    CHECK_EQ(SYS(t, NR_pread64, (uint32_t)fd, 0, 7, PAGE - 3, 0), 7);
    CHECK(!strcmp(world_at(t, 0), "stored"));
    CHECK_EQ(SYS(t, NR_pwrite64, (uint32_t)fd, 0, 7, 3 * PAGE - 7, 0), 7);
    CHECK(!strcmp(world_at(u, OTHER + 3 * PAGE - 7), "stored"));
    CHECK_EQ(SYS(t, NR_ftruncate64, (uint32_t)fd, PAGE, 0), 0);
    CHECK_EQ(*(char *)world_at(u, OTHER + PAGE), 0);
    CHECK(!memcmp(world_at(u, OTHER + PAGE - 3), "sto", 3));
    world_str(u, OTHER + 2 * PAGE, "beyond the end");
    CHECK_EQ(SYS(t, NR_ftruncate64, (uint32_t)fd, 3 * PAGE, 0), 0);
    CHECK_EQ(*(char *)world_at(t, AT + PAGE), 0);
    CHECK_EQ(*(char *)world_at(u, OTHER + 2 * PAGE), 0);
    kernel_free(k);
}

/* The file of a tree, without the kernel's help. */
static bool
tree_has(struct kernel *k, const char *name, uint64_t at, const char *text)
{
    const struct tree *tree = tmpfs_tree(mount_root(&k->vfs)->fs);
    const struct name n = {name, strlen(name)};
    char buf[64] = "";
    uint64_t ino;

    if (tree_lookup(tree, TREE_ROOT, n, &ino) < 0)
        return false;
    (void)inode_read(tree_find(tree, ino), at, buf, strlen(text));
    return !strcmp(buf, text);
}

TEST(shm_pages_return_to_the_file)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = root_task(k);
    int fd = file_of(k, t, "/f", 2);

    CHECK_EQ(map(t, AT, 2, fd, 0), AT);
    CHECK_EQ(SYS(t, NR_close, (uint32_t)fd), 0);
    world_str(t, AT, "msync");
    CHECK(!tree_has(k, "f", 0, "msync"));
    CHECK_EQ(SYS(t, NR_msync, AT, PAGE, MS_SYNC), 0);
    CHECK(tree_has(k, "f", 0, "msync"));
    world_str(t, AT + PAGE, "snapshot");
    shmem_sync_all(mount_root(&k->vfs)->fs);
    CHECK(tree_has(k, "f", PAGE, "snapshot"));
    world_str(t, AT, "exit");
    task_exit(t, 0);
    world_run(k);
    CHECK(tree_has(k, "f", 0, "exit"));
    CHECK_EQ(e.share_bytes, 0);
    kernel_free(k);
}

TEST(shm_a_mapping_can_be_cut_in_pieces)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = world_task(k);
    uint64_t before = world_memory(k);

    CHECK_EQ(map(t, AT, 5, -1, 0), AT);
    for (int i = 0; i < 5; i++)
        *(char *)world_at(t, (gaddr)(AT + i * PAGE)) = (char)('a' + i);
    CHECK_EQ(SYS(t, NR_munmap, AT + 2 * PAGE, PAGE), 0);
    CHECK_EQ(t->n_maps, 2);
    CHECK_EQ(fake_of(t->thread)->shares, 2);
    CHECK_EQ(*(char *)world_at(t, AT + 2 * PAGE), 0);
    CHECK_EQ(*(char *)world_at(t, AT + 3 * PAGE), 'd');
    CHECK_EQ(SYS(t, NR_munmap, AT, PAGE), 0);
    CHECK_EQ(SYS(t, NR_munmap, AT + 4 * PAGE, PAGE), 0);
    CHECK_EQ(*(char *)world_at(t, AT + PAGE), 'b');
    /* Moving and growing keeps the object. */
    CHECK_EQ(SYS(t, NR_mremap, AT + 3 * PAGE, PAGE, 2 * PAGE, 0, OTHER), OTHER);
    CHECK_EQ(*(char *)world_at(t, OTHER), 'd');
    CHECK_EQ(*(char *)world_at(t, OTHER + PAGE), 'e');
    CHECK_EQ(*(char *)world_at(t, AT + 3 * PAGE), 0);
    CHECK_EQ(SYS(t, NR_mremap, AT, PAGE, PAGE, 0, OTHER), -EFAULT);
    /* A new mapping replaces what is there. */
    CHECK_EQ(map(t, AT, 4, -1, 0), AT);
    CHECK_EQ(*(char *)world_at(t, AT + PAGE), 0);
    CHECK_EQ(SYS(t, NR_munmap, AT, 60 * PAGE), 0);
    CHECK_EQ(t->n_maps, 0);
    CHECK_EQ(fake_of(t->thread)->shares, 0);
    CHECK_EQ(world_memory(k), before);
    kernel_free(k);
}

TEST(shm_arguments_and_rights)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = root_task(k);

    CHECK_EQ(world_file(k, "/f", "content"), 0);
    CHECK_EQ(
        SYS(t, NR_openat, (uint32_t)AT_FDCWD, world_str(t, 0, "/f"), O_RDONLY),
        0);
    CHECK_EQ(SYS(t, NR_openat, (uint32_t)AT_FDCWD, 0, O_WRONLY), 1);
    CHECK_EQ(map(t, AT, 1, 0, 0), -EACCES);
    CHECK_EQ(map(t, AT, 1, 1, 0), -EACCES);
    CHECK_EQ(map(t, AT, 1, 7, 0), -EBADF);
    CHECK_EQ(SYS(t, NR_mmap2, AT, PAGE, PROT_READ, MAP_SHARED, 0, 0), AT);
    CHECK(!strcmp(world_at(t, AT), "content"));
    world_str(t, AT, "stored"); /* nothing prevents it, but it stays here */
    CHECK_EQ(SYS(t, NR_munmap, AT, PAGE), 0);
    CHECK(tree_has(k, "f", 0, "content"));
    CHECK_EQ(SYS(t, NR_pipe2, 0, 0), 0);
    CHECK_EQ(SYS(t, NR_mmap2, AT, PAGE, PROT_READ, MAP_SHARED, 2, 0), -ENODEV);
    CHECK_EQ(map(t, AT + 1, 1, -1, 0), -EINVAL);
    CHECK_EQ(map(t, UINT32_MAX & ~(PAGE - 1u), 1, -1, 0), -ENOMEM);
    CHECK_EQ(map(t, FAKE_MEMORY_BYTES, 1, -1, 0), -ENOMEM);
    CHECK_EQ(SYS(t, NR_mmap2, AT, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS),
             -EINVAL);
    CHECK_EQ(SYS(t, NR_munmap, AT, 0), -EINVAL);
    CHECK_EQ(SYS(root_task(k), NR_munmap, AT, PAGE), 0);
    kernel_free(k);
}

TEST(shm_mappings_are_limited)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = world_task(k);

    k->limits.max[LIMIT_mappings] = 3;
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQ(map(t, AT + i * PAGE, 1, -1, 0), (int)(AT + i * PAGE));
    CHECK(!k->limits.was_hit[LIMIT_mappings]);
    CHECK_EQ(map(t, OTHER, 1, -1, 0), -ENOMEM);
    CHECK(k->limits.was_hit[LIMIT_mappings]);
    CHECK(!forked(t)); /* the child would have three more */
    CHECK_EQ(SYS(t, NR_munmap, AT, 2 * PAGE), 0);
    CHECK_EQ(map(t, OTHER, 1, -1, 0), OTHER);
    k->limits.max[LIMIT_memory] = k->limits.used[LIMIT_memory];
    CHECK_EQ(map(t, AT, 1, -1, 0), -ENOMEM);
    e.share_fails = true;
    CHECK_EQ(SYS(t, NR_munmap, OTHER, PAGE), -ENOMEM);
    CHECK_EQ(t->n_maps, 2);
    kernel_free(k);
    CHECK_EQ(e.share_bytes, 0);
}

TEST(shm_futexes_are_found_by_their_object)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = root_task(k), *u = root_task(k);
    int fd = file_of(k, t, "/f", 1);
    int ufd =
        SYS(u, NR_openat, (uint32_t)AT_FDCWD, world_str(u, 0, "/f"), O_RDWR);

    CHECK_EQ(map(t, AT, 1, fd, 0), AT);
    CHECK_EQ(map(u, OTHER, 1, ufd, 0), OTHER);
    CHECK_EQ(SYS(t, NR_futex, AT + 8, FUTEX_WAIT, 0), -EWAIT);
    CHECK_EQ(SYS(u, NR_futex, OTHER + 4, FUTEX_WAKE, 1), 0);
    CHECK_EQ(SYS(u, NR_futex, AT + 8, FUTEX_WAKE, 1), 0);
    CHECK(!world_is_woken(t));
    CHECK_EQ(SYS(u, NR_futex, OTHER + 8, FUTEX_WAKE, 1), 1);
    CHECK(world_is_woken(t));
    kernel_free(k);
}

TEST(shm_segments_of_system_v)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    struct task *t = world_task(k), *u = world_task(k);
    int id = SYS(t, NR_shmget, 77, 5000, IPC_CREAT | 0600);

    CHECK(id > 0);
    CHECK_EQ(SYS(u, NR_shmget, 77, 5001, 0600), -EINVAL);
    CHECK_EQ(SYS(u, NR_shmget, 77, 0, 0600), id);
    CHECK_EQ(SYS(u, NR_shmget, 77, 1, IPC_CREAT | IPC_EXCL), -EEXIST);
    CHECK_EQ(SYS(t, NR_shmat, (uint32_t)id, 0, 0), -EINVAL);
    CHECK_EQ(SYS(t, NR_shmat, (uint32_t)id, AT, 0), AT);
    CHECK_EQ(SYS(u, NR_shmat, (uint32_t)id, OTHER, 0), OTHER);
    world_str(t, AT + 4990, "end");
    CHECK(!strcmp(world_at(u, OTHER + 4990), "end"));
    CHECK_EQ(SYS(t, NR_shmctl, (uint32_t)id, IPC_RMID, 0), 0);
    CHECK_EQ(SYS(t, NR_shmget, 77, 0, 0), -ENOENT);
    CHECK_EQ(SYS(t, NR_shmdt, AT), 2 * PAGE);
    CHECK_EQ(SYS(t, NR_shmdt, AT), -EINVAL);
    CHECK(!strcmp(world_at(u, OTHER + 4990), "end"));
    CHECK_EQ(k->n_segments, 1);
    task_exit(u, 0);
    world_run(k);
    CHECK_EQ(k->n_segments, 0);
    CHECK_EQ(e.share_bytes, 0);
    /* A removed segment is mapped over its only mapping. */
    id = SYS(t, NR_shmget, IPC_PRIVATE, PAGE, 0600);
    CHECK_EQ(SYS(t, NR_shmat, (uint32_t)id, AT, 0), AT);
    CHECK_EQ(SYS(t, NR_shmctl, (uint32_t)id, IPC_RMID, 0), 0);
    world_str(t, AT, "kept");
    CHECK_EQ(SYS(t, NR_shmat, (uint32_t)id, AT, 0), AT);
    CHECK(!strcmp(world_at(t, AT), "kept"));
    k->limits.max[LIMIT_mappings] = 0;
    CHECK_EQ(SYS(t, NR_shmat, (uint32_t)id, AT, 0), -ENOMEM);
    CHECK_EQ(k->n_segments, 0);
    CHECK_EQ(e.share_bytes, 0);
    CHECK_EQ(SYS(t, NR_shmctl, 1u << 31, SHM_STAT, 0), -EINVAL);
    k->limits.max[LIMIT_memory] = 10 * PAGE;
    CHECK_EQ(SYS(t, NR_shmget, 79, 5 * PAGE + 1, IPC_CREAT), -ENOSPC);
    CHECK(k->limits.was_hit[LIMIT_memory]);
    k->limits.max[LIMIT_memory] = UINT64_MAX;
    /* Segments end with the sandbox. */
    CHECK(SYS(t, NR_shmget, 78, PAGE, IPC_CREAT | 0600) > id);
    t->as.cred = cred_of(4711);
    CHECK_EQ(SYS(t, NR_shmget, 78, PAGE, 0600), -EACCES);
    kernel_free(k);
    CHECK_EQ(e.share_bytes, 0);
}

TEST(shm_memfd_is_a_file_without_a_name)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    CHECK_EQ(world_mount_system(k), 0);
    struct task *t = world_task(k);
    int fd = SYS(t, NR_memfd_create, world_str(t, 0, "name"), 1);

    CHECK(fd >= 0);
    CHECK_EQ(SYS(t, NR_ftruncate64, (uint32_t)fd, PAGE, 0), 0);
    CHECK_EQ(map(t, AT, 1, fd, 0), AT);
    world_str(t, AT, "memory");
    CHECK_EQ(SYS(t, NR_pread64, (uint32_t)fd, 0, 7, 0, 0), 7);
    CHECK(!strcmp(world_at(t, 0), "memory"));
    CHECK_EQ(SYS(t, NR_memfd_create, 0, 4), -EINVAL);
    kernel_free(k);
    CHECK_EQ(e.share_bytes, 0);
}

/* Opens a new file of some pages in /dev/shm. */
static int
shm_file(struct task *t, uint32_t pages)
{
    int fd = SYS(t, NR_openat, (uint32_t)AT_FDCWD,
                 world_str(t, 0, "/dev/shm/f"), O_RDWR | O_CREAT, 0600);

    CHECK(fd >= 0);
    CHECK_EQ(SYS(t, NR_ftruncate64, (uint32_t)fd, pages * PAGE, 0), 0);
    return fd;
}

TEST(shm_a_page_of_dev_shm_is_charged_once)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    CHECK_EQ(world_mount_system(k), 0);
    struct task *t = world_task(k), *u = world_task(k);
    uint64_t before = world_memory(k);
    int fd = shm_file(t, 2);
    struct fs *fs = mount_nth(&k->vfs, MOUNT_MEMORY)->fs;

    CHECK_EQ(world_memory(k), before); /* a hole */
    CHECK_EQ(SYS(t, NR_pwrite64, (uint32_t)fd, 0, PAGE, 0, 0), PAGE);
    CHECK_EQ(world_memory(k), before + PAGE);
    CHECK_EQ(map(t, AT, 2, fd, 0), AT); /* the file instead of the range */
    CHECK_EQ(world_memory(k), before);
    int ufd = SYS(u, NR_openat, (uint32_t)AT_FDCWD,
                  world_str(u, 0, "/dev/shm/f"), O_RDWR);
    CHECK_EQ(map(u, AT, 2, ufd, 0), AT);
    CHECK_EQ(world_memory(k), before - 2 * PAGE);
    world_str(t, AT + PAGE, "stored");
    CHECK(!strcmp(world_at(u, AT + PAGE), "stored"));
    CHECK_EQ(SYS(t, NR_msync, AT, 2 * PAGE, MS_SYNC), 0);
    CHECK_EQ(world_memory(k), before - 2 * PAGE);
    /* A snapshot clones the tree in between. */
    shmem_sync_all(fs);
    shmem_punch_all(fs);
    CHECK_EQ(world_memory(k), before - 2 * PAGE);
    CHECK_EQ(SYS(u, NR_munmap, AT, 2 * PAGE), 0);
    CHECK_EQ(SYS(t, NR_munmap, AT, 2 * PAGE), 0);
    CHECK_EQ(world_memory(k), before + 2 * PAGE); /* in the file again */
    CHECK_EQ(SYS(t, NR_pread64, (uint32_t)fd, 0, 7, PAGE, 0), 7);
    CHECK(!strcmp(world_at(t, 0), "stored"));
    CHECK_EQ(SYS(t, NR_unlinkat, (uint32_t)AT_FDCWD,
                 world_str(t, 0, "/dev/shm/f"), 0),
             0);
    CHECK_EQ(SYS(t, NR_close, (uint32_t)fd), 0);
    CHECK_EQ(SYS(u, NR_close, (uint32_t)ufd), 0);
    CHECK_EQ(world_memory(k), before);
    kernel_free(k);
    CHECK_EQ(e.share_bytes, 0);
}

TEST(shm_dev_shm_is_full_at_half_of_the_memory)
{
    struct engine e = {0};
    struct kernel *k = world_new_on(&e);
    CHECK_EQ(world_mount_system(k), 0);
    struct task *t = world_task(k);
    int fd = shm_file(t, 20);

    k->limits.max[LIMIT_memory] = k->limits.used[LIMIT_memory] + 2 * PAGE;
    CHECK_EQ(SYS(t, NR_pwrite64, (uint32_t)fd, 0, PAGE, 0, 0), PAGE);
    CHECK_EQ(SYS(t, NR_pwrite64, (uint32_t)fd, 0, PAGE, PAGE, 0), PAGE);
    CHECK(!k->limits.was_hit[LIMIT_memory]);
    CHECK_EQ(SYS(t, NR_pwrite64, (uint32_t)fd, 0, PAGE, 2 * PAGE, 0), -ENOSPC);
    CHECK(k->limits.was_hit[LIMIT_memory] && !k->limits.was_hit[LIMIT_files]);
    CHECK_EQ(map(t, AT, 20, fd, 0), -ENOMEM);
    CHECK_EQ(SYS(t, NR_ftruncate64, (uint32_t)fd, PAGE, 0), 0);
    CHECK_EQ(SYS(t, NR_pwrite64, (uint32_t)fd, 0, PAGE, PAGE, 0), PAGE);
    /* The charge of mapped pages returns to the file, also at the limit. */
    CHECK_EQ(SYS(t, NR_ftruncate64, (uint32_t)fd, 0, 0), 0);
    CHECK_EQ(SYS(t, NR_ftruncate64, (uint32_t)fd, 2 * PAGE, 0), 0);
    CHECK_EQ(map(t, AT, 2, fd, 0), AT);
    world_str(t, AT + PAGE, "stored");
    k->limits.max[LIMIT_memory] = PAGE;
    CHECK_EQ(SYS(t, NR_munmap, AT, 2 * PAGE), 0);
    CHECK_EQ(SYS(t, NR_pread64, (uint32_t)fd, 0, 7, PAGE, 0), 7);
    CHECK(!strcmp(world_at(t, 0), "stored"));
    kernel_free(k);
    CHECK_EQ(e.share_bytes, 0);
}

/* Everything that a process can do here, with each allocation failing once. */
static void
use_all(struct kernel *k, struct task *t)
{
    struct file *f;
    int error;

    if (world_file(k, "/f", "content") < 0)
        return;
    f = world_open(k, NULL, "/f", O_RDWR, &error);
    if (!f || fd_install(t, f, 0, false) != 0)
        return;
    (void)map(t, AT, 1, 0, 0);
    (void)map(t, AT + PAGE, 3, -1, 0);
    (void)forked(t);
    (void)SYS(t, NR_munmap, AT + 2 * PAGE, PAGE);
    (void)SYS(t, NR_mremap, AT, PAGE, 2 * PAGE, 0, OTHER);
    (void)SYS(t, NR_shmget, 5, PAGE, IPC_CREAT | 0600);
    (void)SYS(t, NR_shmat, 1, 70 * PAGE, 0);
}

TEST(shm_survives_failed_allocations)
{
    EACH_OOM(oom) {
        struct engine e = {0};
        struct kernel *k = world_new_on(&e);
        struct task *t = k ? world_task(k) : NULL;

        if (t)
            use_all(k, t);
        kernel_free(k);
        CHECK_EQ(e.share_bytes, 0);
    }
}
