#include "v86/state.h"

#include "../unit/test.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A disk of zeros, of three blocks and a sector. */
enum { SMALL_BYTES = 3 * DISK_BLOCK_BYTES + DISK_SECTOR_BYTES };

static struct disk *
disk_of(uint64_t bytes)
{
    struct disk *d = NULL;
    int hfd = memfd_create("disk", MFD_CLOEXEC);

    CHECK_EQ(ftruncate(hfd, (off_t)bytes), 0);
    CHECK_EQ(disk_new(hfd, 1 << 20, &d), 0);
    return d;
}

static int
file_of(const struct buf *b, size_t len)
{
    int hfd = memfd_create("state", MFD_CLOEXEC);

    CHECK_EQ(write(hfd, b->p, len), len);
    CHECK_EQ(lseek(hfd, 0, SEEK_SET), 0);
    return hfd;
}

/* Two commits: two blocks, then one of them is dropped and the last is set. */
static size_t
put_commits(struct buf *b)
{
    static uint8_t block[DISK_BLOCK_BYTES] = {1, 2};

    buf_init(b, SIZE_MAX);
    v86_state_put_head(b, SMALL_BYTES);
    v86_state_put_block(b, 0, block);
    v86_state_put_block(b, 2, block);
    v86_state_put_end(b, 0);
    size_t first = b->len;
    v86_state_put_block(b, 0, NULL);
    v86_state_put_block(b, 3, block);
    v86_state_put_end(b, 2);
    return first;
}

static uint8_t
byte_at(struct disk *d, uint64_t at)
{
    uint8_t byte = 99;

    CHECK_EQ(disk_read(d, at, &byte, 1), 0);
    return byte;
}

TEST(state_is_read_as_it_was_written)
{
    struct disk *d = disk_of(SMALL_BYTES);
    struct buf b;
    bool any = false;

    (void)put_commits(&b);
    int hfd = file_of(&b, b.len);
    CHECK_EQ(v86_state_read(d, hfd, false, &any), (int64_t)b.len);
    CHECK(any);
    CHECK_EQ(disk_overlay_bytes(d), 2 * DISK_BLOCK_BYTES);
    CHECK_EQ(byte_at(d, 0), 0);
    CHECK_EQ(byte_at(d, 2 * DISK_BLOCK_BYTES + 1), 2);
    CHECK_EQ(byte_at(d, 3 * DISK_BLOCK_BYTES), 1);
    close(hfd);
    disk_free(d);
    buf_fini(&b);
}

TEST(state_ends_with_the_first_commit_or_with_the_last_whole_one)
{
    struct disk *d = disk_of(SMALL_BYTES);
    struct buf b;
    bool any;
    size_t first = put_commits(&b);

    for (size_t len = first; len < b.len; len++) {
        int hfd = file_of(&b, len);

        CHECK_EQ(v86_state_read(NULL, hfd, false, &any), (int64_t)first);
        close(hfd);
    }
    int hfd = file_of(&b, b.len);
    CHECK_EQ(v86_state_read(d, hfd, true, &any), (int64_t)first);
    CHECK_EQ(byte_at(d, 0), 1);
    close(hfd);
    hfd = file_of(&b, first - 1);
    CHECK_EQ(v86_state_read(d, hfd, true, &any), -EIO);
    close(hfd);
    disk_free(d);
    buf_fini(&b);
}

TEST(state_of_another_disk_and_damaged_states_are_refused)
{
    struct disk *other = disk_of(2 * SMALL_BYTES), *d = disk_of(SMALL_BYTES);
    struct buf b;
    bool any;
    static uint8_t block[DISK_BLOCK_BYTES] = {[DISK_SECTOR_BYTES] = 1};

    (void)put_commits(&b);
    int hfd = file_of(&b, b.len);
    CHECK_EQ(v86_state_read(other, hfd, false, &any), -EINVAL);
    close(hfd);
    b.p[0] = 'x';
    hfd = file_of(&b, b.len);
    CHECK_EQ(v86_state_read(d, hfd, false, &any), -EINVAL);
    close(hfd);
    b.len = 0;
    v86_state_put_block(&b, 4, block); /* behind the end */
    hfd = file_of(&b, b.len);
    CHECK_EQ(v86_state_read(d, hfd, false, &any), -EINVAL);
    close(hfd);
    b.len = 0;
    v86_state_put_block(&b, 3, block); /* longer than the last block */
    hfd = file_of(&b, b.len);
    CHECK_EQ(v86_state_read(d, hfd, false, &any), -EINVAL);
    close(hfd);
    disk_free(other);
    disk_free(d);
    buf_fini(&b);
}
