#include "v86/disk.h"

#include "../unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* An image of 10,000 bytes, which is 19 sectors: byte i has the value i. */
static int
image(void)
{
    int hfd = memfd_create("disk", MFD_CLOEXEC);
    uint8_t bytes[10000];

    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    CHECK_EQ(write(hfd, bytes, sizeof bytes), sizeof bytes);
    return hfd;
}

TEST(disk_changes_are_in_the_overlay_only)
{
    struct disk *d = NULL;
    int hfd = image(), copy = dup(hfd);
    uint8_t buf[6000], byte = 0;

    CHECK_EQ(disk_new(hfd, 1 << 20, &d), 0);
    CHECK_EQ(disk_sectors(d), 19);
    CHECK_EQ(disk_write(d, 4000, "xyz", 3), 0);
    CHECK_EQ(disk_overlay_bytes(d), DISK_BLOCK_BYTES);
    CHECK_EQ(disk_read(d, 3000, buf, sizeof buf), 0);
    CHECK_EQ(buf[999], (uint8_t)3999);
    CHECK(!memcmp(buf + 1000, "xyz", 3));
    CHECK_EQ(buf[1003], (uint8_t)4003);
    CHECK_EQ(buf[5999], (uint8_t)8999);
    CHECK_EQ(pread(copy, &byte, 1, 4000), 1);
    CHECK_EQ(byte, (uint8_t)4000);
    disk_free(d);
    close(copy);
}

TEST(disk_writes_cross_blocks_and_reach_the_last_sector)
{
    struct disk *d = NULL;
    static uint8_t ones[9728], buf[9728];

    memset(ones, 1, sizeof ones);
    CHECK_EQ(disk_new(image(), 1 << 20, &d), 0);
    CHECK_EQ(disk_write(d, 100, ones, sizeof ones - 100), 0);
    CHECK_EQ(disk_overlay_bytes(d), 3 * DISK_BLOCK_BYTES);
    CHECK_EQ(disk_read(d, 0, buf, sizeof buf), 0);
    CHECK_EQ(buf[99], 99);
    CHECK(!memcmp(buf + 100, ones, sizeof ones - 100));
    disk_free(d);
}

TEST(disk_refuses_what_is_outside_and_what_does_not_fit)
{
    struct disk *d = NULL;
    uint8_t buf[DISK_BLOCK_BYTES] = {0};

    CHECK_EQ(disk_new(image(), DISK_BLOCK_BYTES, &d), 0);
    CHECK_EQ(disk_read(d, 9728, buf, 1), -ERANGE);
    CHECK_EQ(disk_read(d, UINT64_MAX, buf, 1), -ERANGE);
    CHECK_EQ(disk_write(d, 9000, buf, 1000), -ERANGE);
    CHECK_EQ(disk_write(d, 0, buf, 1), 0);
    CHECK_EQ(disk_write(d, 9, buf, 1), 0);
    CHECK_EQ(disk_write(d, DISK_BLOCK_BYTES, buf, sizeof buf), -ENOSPC);
    CHECK_EQ(disk_write(d, 10, buf, 1), 0);
    disk_free(d);
    CHECK_EQ(disk_new(memfd_create("empty", MFD_CLOEXEC), 1, &d), -EINVAL);
    CHECK_EQ(disk_new(open("/dev/zero", O_RDONLY), 1, &d), -EINVAL);
}

TEST(disk_discards_whole_blocks_and_has_space_again)
{
    struct disk *d = NULL;
    static uint8_t ones[9728], byte;

    memset(ones, 1, sizeof ones);
    CHECK_EQ(disk_new(image(), 3 * DISK_BLOCK_BYTES, &d), 0);
    CHECK_EQ(disk_write(d, 0, ones, sizeof ones), 0);
    CHECK_EQ(disk_free_bytes(d), 0);
    CHECK_EQ(disk_discard(d, 1, 2 * DISK_BLOCK_BYTES), 0);
    CHECK_EQ(disk_overlay_bytes(d), 2 * DISK_BLOCK_BYTES);
    CHECK_EQ(disk_read(d, 4097, &byte, 1), 0);
    CHECK_EQ(byte, (uint8_t)4097);
    CHECK_EQ(disk_read(d, 4095, &byte, 1), 0);
    CHECK_EQ(byte, 1);
    CHECK_EQ(disk_write(d, 4096, ones, 1), 0);
    CHECK_EQ(disk_read(d, 4097, &byte, 1), 0);
    CHECK_EQ(byte, (uint8_t)4097);
    CHECK_EQ(disk_discard(d, 9728, 1), -ERANGE);
    CHECK_EQ(disk_discard(d, 1, UINT64_MAX), -ERANGE);
    disk_free(d);
}

TEST(disk_reports_each_change_once)
{
    struct disk *d = NULL;
    const uint8_t *bytes = NULL;
    uint64_t block = 9;

    CHECK_EQ(disk_new(image(), 1 << 20, &d), 0);
    CHECK(!disk_take_dirty(d, 0, true, &block, &bytes));
    CHECK_EQ(disk_write(d, 4096, "x", 1), 0);
    CHECK_EQ(disk_write(d, 9000, "y", 1), 0);
    CHECK(disk_take_dirty(d, 0, false, &block, &bytes));
    CHECK_EQ(block, 1);
    CHECK(bytes && bytes[0] == 'x');
    CHECK(disk_take_dirty(d, 2, false, &block, &bytes));
    CHECK_EQ(block, 2);
    CHECK(!disk_take_dirty(d, 0, false, &block, &bytes));
    CHECK_EQ(disk_discard(d, 4096, 4096), 0);
    CHECK(disk_take_dirty(d, 0, false, &block, &bytes));
    CHECK(block == 1 && !bytes);
    CHECK(disk_take_dirty(d, 0, true, &block, &bytes));
    CHECK_EQ(block, 2);
    CHECK(!disk_take_dirty(d, 3, true, &block, &bytes));
    CHECK_EQ(disk_discard(d, 8192, 1536), 0);
    CHECK_EQ(disk_overlay_bytes(d), 0);
    disk_free(d);
}

TEST(disk_image_that_becomes_shorter_is_an_error_of_the_request)
{
    struct disk *d = NULL;
    int hfd = image();
    uint8_t buf[512];

    CHECK_EQ(disk_new(hfd, 1 << 20, &d), 0);
    CHECK_EQ(ftruncate(hfd, 1000), 0);
    CHECK_EQ(disk_read(d, 0, buf, sizeof buf), 0);
    CHECK_EQ(disk_read(d, 4096, buf, sizeof buf), -EIO);
    CHECK_EQ(disk_write(d, 4096, buf, sizeof buf), -EIO);
    disk_free(d);
}

TEST(disk_new_fails_cleanly_without_memory)
{
    EACH_OOM(oom) {
        struct disk *d = NULL;

        if (disk_new(image(), 1 << 20, &d) == 0)
            disk_free(d);
    }
}
