/* Extended attributes of the tree, and calls on them. */
#include "world.h"

#include "kernel/vfs/tmpfs.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

enum { PATH = 512, NAME = 1024, BUF = 4096 };

static int32_t
set(struct task *t, const char *name, const char *value, uint32_t flags)
{
    return SYS(t, NR_setxattr, PATH, world_str(t, NAME, name),
               world_str(t, BUF, value), (uint32_t)strlen(value), flags);
}

static int32_t
get(struct task *t, const char *name, uint32_t size)
{
    memset(world_at(t, BUF), 0, 64);
    return SYS(t, NR_getxattr, PATH, world_str(t, NAME, name), BUF, size);
}

static struct task *
make_file(struct kernel *k)
{
    struct task *t = world_task(k);

    CHECK_EQ(world_make(k, NULL, "/f", S_IFREG | 0666), 0);
    (void)world_str(t, PATH, "/f");
    return t;
}

TEST(xattrs_are_set_replaced_and_removed)
{
    struct kernel *k = world_new();
    struct task *t = make_file(k);

    CHECK_EQ(get(t, "user.a", 64), -ENODATA);
    CHECK_EQ(set(t, "user.a", "one", XATTR_REPLACE), -ENODATA);
    CHECK_EQ(set(t, "user.a", "one", XATTR_CREATE), 0);
    CHECK_EQ(set(t, "user.a", "two", XATTR_CREATE), -EEXIST);
    CHECK_EQ(set(t, "user.a", "three", 0), 0);
    CHECK_EQ(set(t, "user.b", "", 0), 0);
    CHECK_EQ(get(t, "user.a", 0), 5);
    CHECK_EQ(get(t, "user.a", 4), -ERANGE);
    CHECK_EQ(get(t, "user.a", 64), 5);
    CHECK(!memcmp(world_at(t, BUF), "three", 5));
    CHECK_EQ(SYS(t, NR_listxattr, PATH, BUF, 64), 14);
    CHECK(!memcmp(world_at(t, BUF), "user.b\0user.a", 14));
    CHECK_EQ(SYS(t, NR_listxattr, PATH, BUF, 13), -ERANGE);
    CHECK_EQ(SYS(t, NR_removexattr, PATH, world_str(t, NAME, "user.a")), 0);
    CHECK_EQ(SYS(t, NR_removexattr, PATH, NAME), -ENODATA);
    CHECK_EQ(SYS(t, NR_listxattr, PATH, 0, 0), 7);
    kernel_free(k);
}

TEST(xattrs_count_against_the_quota_and_are_given_back)
{
    struct kernel *k = world_new();
    struct task *t = make_file(k);
    struct tree *tree = tmpfs_tree(mount_root(&k->vfs)->fs);
    uint64_t before = tree->used.bytes;

    CHECK_EQ(set(t, "user.a", "12345", 0), 0);
    CHECK(tree->used.bytes >= before + 5);
    tree->max.bytes = tree->used.bytes;
    CHECK_EQ(set(t, "user.b", "12345", 0), -ENOSPC);
    CHECK(k->limits.was_hit[LIMIT_file_bytes]);
    CHECK_EQ(set(t, "user.a", "1", 0), 0);
    CHECK_EQ(SYS(t, NR_removexattr, PATH, NAME), 0);
    CHECK_EQ(tree->used.bytes, before);
    tree->max.bytes = 1 << 20;
    CHECK_EQ(set(t, "user.a", "12345", 0), 0);
    struct at at = {.vfs = &k->vfs, .path = "/f"};
    CHECK_EQ(vfs_unlink(&at, 0), 0);
    CHECK_EQ(tree->used.bytes, before);
    kernel_free(k);
}

TEST(xattrs_of_an_inode_have_a_maximum)
{
    struct kernel *k = world_new();
    struct task *t = make_file(k);
    char name[24];

    tmpfs_tree(mount_root(&k->vfs)->fs)->max.bytes = 1 << 20;
    memset(world_at(t, BUF), 'x', 30000);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof name, "user.%d", i);
        CHECK_EQ(
            SYS(t, NR_setxattr, PATH, world_str(t, NAME, name), BUF, 30000, 0),
            i < 2 ? 0 : -ENOSPC);
    }
    CHECK_EQ(SYS(t, NR_setxattr, PATH, NAME, BUF, 65537, 0), -E2BIG);
    kernel_free(k);
}

TEST(xattrs_have_names_and_owners)
{
    struct kernel *k = world_new();
    struct task *t = make_file(k);
    char name[300];

    CHECK_EQ(set(t, "security.a", "x", 0), -EOPNOTSUPP);
    CHECK_EQ(set(t, "user.", "x", 0), -EINVAL);
    CHECK_EQ(set(t, "", "x", 0), -ERANGE);
    memset(name, 'x', sizeof name);
    memcpy(name, "user.", 5);
    name[256] = 0;
    CHECK_EQ(set(t, name, "x", 0), -ERANGE);
    name[255] = 0;
    CHECK_EQ(set(t, name, "x", 0), 0);
    CHECK_EQ(set(t, "user.a", "x", 4), -EINVAL);
    t->as.cred = cred_of(1000);
    CHECK_EQ(world_make(k, NULL, "/d", S_IFDIR | 0755), 0);
    (void)world_str(t, PATH, "/d");
    CHECK_EQ(set(t, "user.a", "x", 0), -EACCES);
    CHECK_EQ(get(t, "user.a", 8), -ENODATA);
    (void)world_str(t, PATH, "/none");
    CHECK_EQ(set(t, "user.a", "x", 0), -ENOENT);
    kernel_free(k);
}

TEST(xattrs_survive_failing_allocations)
{
    struct kernel *k = world_new();
    struct task *t = make_file(k);

    EACH_OOM(oom) {
        (void)set(t, "user.a", "12345", 0);
        (void)set(t, "user.b", "12345", 0);
        (void)SYS(t, NR_removexattr, PATH, world_str(t, NAME, "user.a"));
    }
    kernel_free(k);
}

TEST(attribute_records_have_a_form)
{
    const struct record_key k = {.type = RECORD_ATTRS, .inode = 7, .name = ""};
    uint8_t key[RECORD_KEY_MAX], value[64];
    size_t key_len = record_key_put(&k, key);
    const struct record_attr a = {"user.a", 6, "12", 2};
    size_t len = record_attr_put(&a, value);

    CHECK_EQ(record_check(key, key_len, value, len), 0);
    CHECK_EQ(record_check(key, key_len, "", 0), 0);
    for (size_t i = 1; i < len; i++)
        CHECK_EQ(record_check(key, key_len, value, i), -EINVAL);
    value[5] = 0;
    CHECK_EQ(record_check(key, key_len, value, len), -EINVAL);
    value[0] = 0;
    CHECK_EQ(record_check(key, key_len, value, 3), -EINVAL);
}
