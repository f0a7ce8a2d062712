/* Message queues: as files, as copies, and without memory. Locked pages without
 * memory. */
#include "world.h"

#include "kernel/mqueue.h"
#include "kernel/page_locks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_AT = 0, TEXT_AT = 256, BUF_AT = 16384, BUF_BYTES = MQUEUE_BYTES };

static int32_t
queue_open(struct task *t, const char *name, uint32_t flags)
{
    return SYS(t, NR_mq_open, world_str(t, NAME_AT, name), flags, 0600, 0);
}

static int32_t
queue_send(struct task *t, int32_t q, const char *text, uint32_t priority)
{
    return SYS(t, NR_mq_timedsend, (uint32_t)q, world_str(t, TEXT_AT, text),
               (uint32_t)strlen(text), priority, 0);
}

/* Returns true if the next message is `text`. */
static bool
queue_gives(struct task *t, int32_t q, const char *text)
{
    int32_t n =
        SYS(t, NR_mq_timedreceive, (uint32_t)q, BUF_AT, BUF_BYTES, 0, 0);

    return n == (int32_t)strlen(text) &&
           !memcmp(world_at(t, BUF_AT), text, strlen(text));
}

TEST(mqueue_is_created_as_a_file)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct attr attr = {0};

    CHECK_EQ(world_mount_system(k), 0);
    CHECK_EQ(world_make(k, t, "/dev/mqueue/q", S_IFREG | 0620), 0);
    CHECK_EQ(world_make(k, t, "/dev/mqueue/q", S_IFREG | 0620), -EEXIST);
    CHECK_EQ(world_make(k, t, "/dev/mqueue/dir", S_IFDIR | 0700), -EPERM);
    CHECK_EQ(world_make(k, t, "/dev/file", S_IFREG | 0600), -EACCES);
    CHECK_EQ(world_make(k, NULL, "/dev/file", S_IFREG | 0600), -ENOENT);
    const struct mqueue *q = mqueue_find(k, (struct name){"q", 1});
    CHECK(q != NULL);
    mqueue_getattr(q, &attr);
    CHECK_EQ(attr.uid, t->as.cred.uid);
    CHECK_EQ(attr.mode, S_IFREG | 0620);
    int32_t fd = queue_open(t, "q", O_RDWR);
    CHECK_EQ(queue_send(t, fd, "hello", 0), 0);
    CHECK(queue_gives(t, fd, "hello"));
    kernel_free(k);
}

TEST(mqueue_copies_have_the_messages)
{
    struct kernel *k = world_new(), *other = world_new();
    struct task *t = world_task(k), *to = world_task(other);
    struct list copy;

    list_init(&copy);
    int32_t q = queue_open(t, "q", O_CREAT | O_RDWR);
    CHECK_EQ(queue_send(t, q, "low", 1), 0);
    CHECK_EQ(queue_send(t, q, "high", 2), 0);
    CHECK_EQ(mqueues_copy(&k->mqueues, NULL, &copy), 0);
    CHECK(mqueues_bytes(&copy) > mqueues_bytes(&other->mqueues));
    CHECK(queue_gives(t, q, "high"));

    uint64_t before = world_memory(other);
    CHECK_EQ(mqueues_copy(&copy, other, &other->mqueues), 0);
    mqueues_fini(&copy);
    CHECK_EQ(world_memory(other) - before, world_memory(k));
    CHECK(queue_open(to, "new", O_CREAT | O_RDWR) >= 0);
    int32_t its = queue_open(to, "q", O_RDONLY | O_NONBLOCK);
    CHECK(queue_gives(to, its, "high"));
    CHECK(queue_gives(to, its, "low"));
    CHECK_EQ(
        SYS(to, NR_mq_timedreceive, (uint32_t)its, BUF_AT, BUF_BYTES, 0, 0),
        -EAGAIN);
    CHECK(queue_gives(t, q, "low"));
    kernel_free(other);
    kernel_free(k);
}

TEST(mqueue_copies_obey_the_memory_limit)
{
    struct kernel *k = world_new(), *other = world_new();
    struct task *t = world_task(k);

    CHECK(queue_open(t, "q", O_CREAT | O_RDWR) >= 0);
    uint64_t before = world_memory(other);
    other->limits.max[LIMIT_memory] = other->limits.used[LIMIT_memory];
    CHECK_EQ(mqueues_copy(&k->mqueues, other, &other->mqueues), -ENOMEM);
    CHECK(list_is_empty(&other->mqueues));
    CHECK_EQ(world_memory(other), before);
    kernel_free(other);
    kernel_free(k);
}

/* Everything here may fail; nothing may leak. */
static void
queue_use_all(struct kernel *k, struct task *t)
{
    struct list copy;

    list_init(&copy);
    int32_t q = queue_open(t, "q", O_CREAT | O_RDWR);
    (void)queue_send(t, q, "one", 1);
    (void)queue_send(t, q, "two", 2);
    if (mqueues_copy(&k->mqueues, NULL, &copy) == 0) {
        (void)SYS(t, NR_mq_unlink, world_str(t, NAME_AT, "q"));
        (void)mqueues_copy(&copy, k, &k->mqueues);
    }
    mqueues_fini(&copy);
    (void)world_make(k, t, "/dev/mqueue/file", S_IFREG | 0600);
}

TEST(mqueue_survives_failed_allocations)
{
    EACH_OOM(oom) {
        struct kernel *k = world_new();
        struct task *t = k ? world_task(k) : NULL;

        if (t && world_mount_system(k) == 0)
            queue_use_all(k, t);
        kernel_free(k);
    }
}

TEST(mqueue_that_cannot_be_opened_is_not_created)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint64_t before = world_memory(k);

    EACH_OOM(oom) {
        int32_t q = queue_open(t, "q", O_CREAT | O_RDWR);
        if (q >= 0) {
            CHECK_EQ(SYS(t, NR_close, (uint32_t)q), 0);
            CHECK_EQ(SYS(t, NR_mq_unlink, world_str(t, NAME_AT, "q")), 0);
        }
        CHECK(list_is_empty(&k->mqueues));
        CHECK_EQ(world_memory(k), before);
    }
    kernel_free(k);
}

TEST(page_locks_stay_as_they_were_without_memory)
{
    struct page_locks l = {0};

    CHECK_EQ(page_locks_set(&l, (struct page_range_k){10, 20}, true), 0);
    EACH_OOM(oom) {
        int r = page_locks_set(&l, (struct page_range_k){12, 14}, false);
        CHECK(r == 0 || r == -ENOMEM);
        CHECK_EQ(page_locks_count(&l), r == 0 ? 8 : 10);
    }
    page_locks_fini(&l);
}
