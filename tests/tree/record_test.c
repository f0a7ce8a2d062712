#include "record/record.h"

#include "../unit/test.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool
is_same(const struct record_key *a, const struct record_key *b)
{
    return a->type == b->type && a->mount == b->mount && a->inode == b->inode &&
           a->index == b->index && a->name_len == b->name_len &&
           !memcmp(a->name, b->name, a->name_len);
}

static const struct record_key keys[] = {
    {.type = RECORD_FACT, .name = "image", .name_len = 5},
    {.type = RECORD_FILE, .index = 9, .name = ""},
    {.type = RECORD_COMMAND, .index = RECORD_INODE_MAX - 1, .name = ""},
    {.type = RECORD_INODE, .inode = 255, .name = ""},
    {.type = RECORD_INODE, .inode = 256, .name = ""},
    {.type = RECORD_INODE, .mount = 1, .inode = 1, .name = ""},
    {.type = RECORD_NAME, .inode = 7, .name = "a\xff", .name_len = 2},
    {.type = RECORD_PAGE, .index = RECORD_PAGE_MAX - 1, .name = ""},
    {.type = RECORD_ATTRS, .mount = 1, .inode = 7, .name = ""},
    {.type = RECORD_PLACE, .mount = 1, .inode = 7, .name = ""},
    {.type = RECORD_BLOCK, .inode = 7, .index = 255, .name = ""},
    {.type = RECORD_BLOCK, .inode = 7, .index = 256, .name = ""},
};

enum { N_KEYS = sizeof keys / sizeof *keys };

TEST(record_keys_are_read_as_they_were_written)
{
    for (int i = 0; i < N_KEYS; i++) {
        uint8_t b[RECORD_KEY_MAX];
        struct record_key k;
        size_t n = record_key_put(&keys[i], b);
        CHECK_EQ(record_key_get(b, n, &k), 0);
        CHECK(is_same(&k, &keys[i]));
    }
}

TEST(record_keys_sort_by_type_and_number)
{
    uint8_t a[RECORD_KEY_MAX] = {0}, b[RECORD_KEY_MAX] = {0};

    for (int i = 0; i + 1 < N_KEYS; i++) {
        (void)record_key_put(&keys[i], a);
        (void)record_key_put(&keys[i + 1], b);
        CHECK(memcmp(a, b, sizeof a) < 0);
    }
}

TEST(record_keys_that_are_cut_or_too_long_are_refused)
{
    for (int i = 0; i < N_KEYS; i++) {
        uint8_t b[RECORD_KEY_MAX + 1] = {0};
        struct record_key k;
        size_t n = record_key_put(&keys[i], b);
        CHECK_EQ(record_key_get(b, n - keys[i].name_len - 1, &k), -EINVAL);
        if (!keys[i].name_len)
            CHECK_EQ(record_key_get(b, n + 1, &k), -EINVAL);
    }
    CHECK_EQ(record_key_get("", 0, &(struct record_key){0}), -EINVAL);
    CHECK_EQ(record_key_get("z1234567", 8, &(struct record_key){0}), -EINVAL);
}

static int
check_name(const char *name, size_t len)
{
    const struct record_key k = {
        .type = RECORD_NAME, .inode = 1, .name = name, .name_len = len};
    uint8_t b[2 * RECORD_KEY_MAX];

    return record_check(b, record_key_put(&k, b), "", 0);
}

TEST(record_names_are_those_that_a_file_can_have)
{
    char longest[256];

    memset(longest, 'x', sizeof longest);
    CHECK_EQ(check_name("...", 3), 0);
    CHECK_EQ(check_name(longest, 255), 0);
    CHECK_EQ(check_name(longest, 256), -EINVAL);
    CHECK_EQ(check_name("", 0), -EINVAL);
    CHECK_EQ(check_name(".", 1), -EINVAL);
    CHECK_EQ(check_name("..", 2), -EINVAL);
    CHECK_EQ(check_name("a/b", 3), -EINVAL);
    CHECK_EQ(check_name("a\0b", 3), -EINVAL);
}

static int
check_index(enum record_type type, uint64_t index)
{
    const struct record_key k = {.type = type, .inode = 1, .index = index};
    uint8_t b[RECORD_KEY_MAX];

    return record_key_get(b, record_key_put(&k, b), &(struct record_key){0});
}

TEST(record_numbers_have_bounds)
{
    CHECK_EQ(check_index(RECORD_FILE, 2), -EINVAL);
    CHECK_EQ(check_index(RECORD_FILE, RECORD_FD_MAX), -EINVAL);
    CHECK_EQ(check_index(RECORD_PAGE, RECORD_PAGE_MAX), -EINVAL);
    CHECK_EQ(check_index(RECORD_BLOCK, RECORD_BYTES_MAX / RECORD_BLOCK_BYTES),
             -EINVAL);
    CHECK_EQ(check_index(RECORD_COMMAND, RECORD_INODE_MAX), -EINVAL);
    CHECK_EQ(record_key_get("i\0\1\0\0\0\0\0\0", 9, &(struct record_key){0}),
             -EINVAL);
}

static int
check_inode(struct record_inode r)
{
    struct record_inode back;
    uint8_t b[RECORD_FIXED_MAX];

    int e = record_inode_get(b, record_inode_put(&r, b), &back);
    if (e == 0)
        CHECK(back.mode == r.mode && back.uid == r.uid && back.gid == r.gid &&
              back.size == r.size && back.atime_ns == r.atime_ns &&
              back.mtime_ns == r.mtime_ns && back.ctime_ns == r.ctime_ns);
    return e;
}

TEST(record_inodes_are_of_kinds_that_a_sandbox_has)
{
    CHECK_EQ(check_inode((struct record_inode){.mode = S_IFREG | 07777,
                                               .uid = 1,
                                               .gid = 2,
                                               .size = RECORD_BYTES_MAX,
                                               .atime_ns = -1,
                                               .mtime_ns = INT64_MAX,
                                               .ctime_ns = INT64_MIN}),
             0);
    CHECK_EQ(check_inode((struct record_inode){.mode = S_IFDIR | 0755}), 0);
    CHECK_EQ(check_inode((struct record_inode){.mode = S_IFLNK, .size = 1}), 0);
    CHECK_EQ(check_inode((struct record_inode){.mode = S_IFLNK}), -EINVAL);
    CHECK_EQ(check_inode((struct record_inode){.mode = S_IFLNK, .size = 4096}),
             -EINVAL);
    CHECK_EQ(check_inode((struct record_inode){.mode = S_IFDIR, .size = 1}),
             -EINVAL);
    CHECK_EQ(check_inode((struct record_inode){.mode = S_IFCHR | 0666}),
             -EINVAL);
    CHECK_EQ(check_inode((struct record_inode){.mode = S_IFREG | 0x10000}),
             -EINVAL);
    CHECK_EQ(check_inode((struct record_inode){.mode = S_IFREG,
                                               .size = RECORD_BYTES_MAX + 1}),
             -EINVAL);
}

TEST(record_shells_and_files_are_read_as_they_were_written)
{
    const struct record_shell sh = {.status = 255,
                                    .has_env = true,
                                    .memory_bytes = 65536,
                                    .cwd_mount = 3,
                                    .cwd = 77};
    const struct record_file f = {.flags = 02001,
                                  .cloexec = true,
                                  .same_as = 5,
                                  .mount = 2,
                                  .inode = 9,
                                  .pos = 1 << 20};
    struct record_shell sh2;
    struct record_file f2;
    uint8_t b[RECORD_FIXED_MAX];

    CHECK_EQ(record_shell_get(b, record_shell_put(&sh, b), &sh2), 0);
    CHECK(sh2.status == 255 && sh2.has_env && sh2.memory_bytes == 65536 &&
          sh2.cwd_mount == 3 && sh2.cwd == 77 && !sh2.cwd_is_removed);
    const struct record_shell removed = {.cwd_is_removed = true};
    CHECK_EQ(record_shell_get(b, record_shell_put(&removed, b), &sh2), 0);
    CHECK(!sh2.has_env && sh2.cwd_is_removed && !sh2.cwd);
    const struct record_shell no_folder = {0};
    CHECK_EQ(record_shell_get(b, record_shell_put(&no_folder, b), &sh2),
             -EINVAL);
    CHECK_EQ(record_file_get(b, record_file_put(&f, b), &f2), 0);
    CHECK(f2.flags == 02001 && f2.cloexec && f2.same_as == 5 && f2.mount == 2 &&
          f2.inode == 9 && f2.pos == 1 << 20 && !f2.is_closed);
    const struct record_file closed = {.same_as = 4, .is_closed = true};
    CHECK_EQ(record_file_get(b, record_file_put(&closed, b), &f2), 0);
    CHECK(f2.is_closed && f2.same_as == 4 && !f2.cloexec && !f2.inode);
    CHECK_EQ(record_check("f\0\0\0\6", 5, b, record_file_put(&f, b)), 0);
    CHECK_EQ(record_check("f\0\0\0\5", 5, b, record_file_put(&f, b)), -EINVAL);
}

TEST(record_values_have_the_length_of_their_type)
{
    static const char big[RECORD_BLOCK_BYTES + 1];

    CHECK_EQ(record_check("p\0\0\0\1", 5, big, RECORD_PAGE_BYTES), 0);
    CHECK_EQ(record_check("p\0\0\0\1", 5, big, sizeof big), -EINVAL);
    CHECK_EQ(record_check("p\0\0\0\1", 5, NULL, 0), 0);
    CHECK_EQ(record_check("aversion", 8, big, 4), 0);
    CHECK_EQ(record_check("aversion", 8, big, 5), -EINVAL);
    CHECK_EQ(record_check("aversion", 8, NULL, 0), 0);
    CHECK_EQ(record_check("ascript", 7, big, sizeof big), 0);
    CHECK_EQ(record_check("aother", 6, big, 4), -EINVAL);
    CHECK_EQ(record_check("aother", 6, NULL, 0), -EINVAL);
    CHECK_EQ(record_check("h\0\0\0\0\0\0\0\1", 9, "a\0b", 3), -EINVAL);
    CHECK_EQ(record_check("h\0\0\0\0\0\0\0\1", 9, "a b", 3), 0);
}

static int
check_head(enum record_op op, uint16_t key_len, uint32_t value_len)
{
    const struct record_head h = {op, key_len, value_len};
    struct record_head back;
    uint8_t b[RECORD_HEAD_BYTES];

    record_head_put(&h, b);
    int r = record_head_get(b, &back);
    if (r == 0)
        CHECK(back.op == op && back.key_len == key_len &&
              back.value_len == value_len);
    return r;
}

TEST(record_heads_have_lengths_that_fit_the_op)
{
    uint8_t b[RECORD_END_BYTES];

    CHECK_EQ(check_head(RECORD_PUT, 1, 0), 0);
    CHECK_EQ(check_head(RECORD_PUT, RECORD_KEY_MAX, RECORD_VALUE_MAX), 0);
    CHECK_EQ(check_head(RECORD_PUT, 0, 1), -EINVAL);
    CHECK_EQ(check_head(RECORD_PUT, RECORD_KEY_MAX + 1, 1), -EINVAL);
    CHECK_EQ(check_head(RECORD_PUT, 1, RECORD_VALUE_MAX + 1), -EINVAL);
    CHECK_EQ(check_head(RECORD_DELETE, 1, 0), 0);
    CHECK_EQ(check_head(RECORD_DELETE, 1, 1), -EINVAL);
    CHECK_EQ(check_head(RECORD_END, 0, 8), 0);
    CHECK_EQ(check_head(RECORD_END, 0, 7), -EINVAL);
    CHECK_EQ(check_head('X', 1, 1), -EINVAL);
    record_end_put(UINT64_C(0x0102030405060708), b);
    CHECK_EQ(record_end_get(b), 0x0102030405060708);
}
