/* Frames of a worker, cut into batches. */
#include "store/state_check.h"

#include "../unit/test.h"
#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
add_end(struct buf *b, uint64_t number)
{
    uint8_t bytes[RECORD_HEAD_BYTES + RECORD_END_BYTES];
    struct record_head h = {RECORD_END, 0, RECORD_END_BYTES};

    record_head_put(&h, bytes);
    record_end_put(number, bytes + RECORD_HEAD_BYTES);
    buf_add(b, bytes, sizeof bytes);
}

static void
feed(struct state_check *c, const char *p, size_t len)
{
    size_t room;
    char *to = state_check_room(c, &room);

    CHECK(to && room >= len);
    memcpy(to, p, len);
    state_check_add(c, len);
}

TEST(a_commit_comes_out_as_it_went_in)
{
    struct state_check c = {0};
    struct state_part part;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    add_file(&b, 1, "x", 2, 1, 300);
    size_t records = b.len;
    add_end(&b, 1);
    for (size_t i = 0; i + 1 < b.len; i++) {
        feed(&c, b.p + i, 1);
        CHECK_EQ(state_check_take(&c, &part), 0);
    }
    feed(&c, b.p + b.len - 1, 1);
    CHECK_EQ(state_check_take(&c, &part), 1);
    CHECK(part.is_first && part.is_last);
    CHECK_EQ(part.commit, 1);
    CHECK_EQ(part.len, records);
    CHECK(!memcmp(part.frames, b.p, records));
    CHECK_EQ(state_check_take(&c, &part), 0);
    free(part.frames);
    CHECK(!c.p);
    buf_fini(&b);
    state_check_fini(&c);
}

TEST(commits_that_came_together_are_taken_one_by_one)
{
    struct state_check c = {0};
    struct state_part part;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    for (uint64_t i = 1; i < 4; i++) {
        add_inode(&b, 1 + i, 0100644, i);
        add_end(&b, i);
    }
    add_end(&b, 4);
    add_inode(&b, 9, 0100644, 9);
    feed(&c, b.p, b.len);
    for (uint64_t i = 1; i < 5; i++) {
        CHECK_EQ(state_check_take(&c, &part), 1);
        CHECK_EQ(part.commit, i);
        CHECK(part.is_last);
        CHECK_EQ(!part.frames, i == 4);
        free(part.frames);
    }
    CHECK_EQ(state_check_take(&c, &part), 0);
    buf_fini(&b);
    state_check_fini(&c);
}

TEST(a_long_commit_comes_in_parts)
{
    struct state_check c = {0};
    struct state_part part;
    struct buf b;
    size_t n = 0, taken = 0;

    buf_init(&b, SIZE_MAX / 4);
    for (unsigned i = 0; i < 1000; i++)
        add_block(&b, 2, i, i, 4096);
    size_t records = b.len;
    add_end(&b, 1);
    for (size_t at = 0; at < b.len; at += 4096) {
        feed(&c, b.p + at, b.len - at < 4096 ? b.len - at : 4096);
        while (state_check_take(&c, &part) > 0) {
            CHECK_EQ(part.is_first, !n);
            CHECK_EQ(part.is_last, taken + part.len == records);
            CHECK(!memcmp(part.frames, b.p + taken, part.len));
            CHECK(part.len < STATE_PART_BYTES + 8192);
            taken += part.len;
            n++;
            free(part.frames);
        }
    }
    CHECK_EQ(taken, records);
    CHECK_EQ(n, 4);
    CHECK(!c.is_amid);
    buf_fini(&b);
    state_check_fini(&c);
}

static int
take_of(const void *bytes, size_t len)
{
    struct state_check c = {0};
    struct state_part part = {0};

    feed(&c, bytes, len);
    int r = state_check_take(&c, &part);
    CHECK(r != -EPROTO || strstr(c.why, "records"));
    free(part.frames);
    state_check_fini(&c);
    return r;
}

TEST(frames_without_form_are_refused)
{
    struct buf b;

    CHECK_EQ(take_of("X\0\1\0\0\0\0\0", 8), -EPROTO);
    CHECK_EQ(take_of("P\1\1\0\0\0\0\0", 8), -EPROTO);
    CHECK_EQ(take_of("P\0\0\0\0\0\0\0", 8), -EPROTO);
    CHECK_EQ(take_of("P\0\377\377\0\0\0\0", 8), -EPROTO);
    CHECK_EQ(take_of("P\0\1\0\0\0\0\377", 8), -EPROTO);
    CHECK_EQ(take_of("D\0\1\0\1\0\0\0", 8), -EPROTO);
    CHECK_EQ(take_of("E\0\0\0\7\0\0\0", 8), -EPROTO);
    CHECK_EQ(take_of("E\0\0\0\10\0\0", 7), 0);
    buf_init(&b, SIZE_MAX / 4);
    add_end(&b, 2);
    CHECK_EQ(take_of(b.p, b.len), -EPROTO);
    b.len = 0;
    add_end(&b, 1);
    CHECK_EQ(take_of(b.p, b.len), 1);
    buf_fini(&b);
}

TEST(cutting_without_memory_loses_nothing)
{
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    add_file(&b, 1, "x", 2, 1, 300);
    add_end(&b, 1);
    EACH_OOM(oom) {
        struct state_check c = {0};
        struct state_part part = {0};
        size_t room;
        char *to = state_check_room(&c, &room);
        if (to) {
            memcpy(to, b.p, b.len);
            state_check_add(&c, b.len);
            int r = state_check_take(&c, &part);
            CHECK(r == 1 || r == -ENOMEM);
            if (r == -ENOMEM)
                CHECK_EQ(state_check_take(&c, &part), 1);
        }
        free(part.frames);
        state_check_fini(&c);
    }
    buf_fini(&b);
}
