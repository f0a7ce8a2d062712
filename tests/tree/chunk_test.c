/* Chunks of file content. */
#include "../unit/test.h"
#include "tree/chunk.h"

#include <errno.h>
#include <string.h>

static char
byte_at(const struct chunk *c, size_t off)
{
    char b = 'x';
    chunk_read(c, off, &b, 1);
    return b;
}

TEST(chunk_missing_reads_as_zeros)
{
    char buf[16];

    memset(buf, 1, sizeof buf);
    chunk_read(NULL, 100, buf, sizeof buf);
    CHECK(!memcmp(buf, (char[16]){0}, 16));
}

TEST(chunk_of_100_bytes_costs_128)
{
    struct chunk *c = NULL;
    char buf[100] = "hello";

    CHECK_EQ(chunk_write(&c, 0, buf, sizeof buf, 0), 0);
    CHECK(sizeof *c + c->cap <= 128);
    CHECK_EQ(byte_at(c, 1), 'e');
    CHECK_EQ(byte_at(c, 4095), 0);
    chunk_put(c);
}

TEST(chunk_grows_and_keeps_its_bytes)
{
    struct chunk *c = NULL;

    for (size_t i = 0; i < CHUNK_BYTES; i++)
        CHECK_EQ(chunk_write(&c, i, &(char){(char)i}, 1, 0), 0);
    CHECK_EQ(c->cap, CHUNK_BYTES);
    for (size_t i = 0; i < CHUNK_BYTES; i++)
        CHECK_EQ(byte_at(c, i), (char)i);
    chunk_put(c);
}

TEST(chunk_that_is_cut_gives_memory_back)
{
    struct chunk *c = NULL;
    char buf[4000];

    memset(buf, 'x', sizeof buf);
    CHECK_EQ(chunk_write(&c, 0, buf, sizeof buf, CHUNK_BYTES), 0);
    CHECK_EQ(chunk_zero(&c, 3, CHUNK_BYTES - 3), 0);
    CHECK(c->cap < 128);
    chunk_read(c, 0, buf, 200);
    CHECK(!memcmp(buf, "xxx\0\0", 5) && !buf[199]);
    chunk_put(c);
}

TEST(chunk_written_in_the_middle_is_zero_around)
{
    struct chunk *c = NULL;

    CHECK_EQ(chunk_write(&c, 2000, "ab", 2, CHUNK_BYTES), 0);
    CHECK_EQ(c->cap, CHUNK_BYTES);
    CHECK_EQ(byte_at(c, 1999), 0);
    CHECK_EQ(byte_at(c, 2000), 'a');
    CHECK_EQ(byte_at(c, 2002), 0);
    CHECK_EQ(byte_at(c, 4095), 0);
    chunk_put(c);
}

TEST(chunk_that_is_shared_is_copied_before_it_is_written)
{
    struct chunk *a = NULL;

    CHECK_EQ(chunk_write(&a, 0, "one", 3, 0), 0);
    struct chunk *b = a;
    shared_get(&a->ref);
    CHECK_EQ(chunk_write(&b, 0, "two", 3, 0), 0);
    CHECK(a != b);
    CHECK_EQ(byte_at(a, 0), 'o');
    CHECK_EQ(byte_at(b, 0), 't');
    CHECK_EQ(chunk_zero(&b, 1, 1), 0);
    CHECK_EQ(byte_at(b, 1), 0);
    CHECK_EQ(byte_at(b, 2), 'o');
    chunk_put(a);
    chunk_put(b);
}

TEST(chunk_over_foreign_memory_is_cut_without_a_copy)
{
    static const char image[] = "root image";
    struct chunk *c = chunk_new_foreign(image, 10);

    c->is_uncharged = true;
    CHECK(!chunk_zero_costs(c, 4, CHUNK_BYTES - 4));
    CHECK_EQ(chunk_zero(&c, 4, CHUNK_BYTES - 4), 0);
    CHECK(c->is_uncharged && c->is_foreign);
    CHECK_EQ(byte_at(c, 3), 't');
    CHECK_EQ(byte_at(c, 4), 0);
    CHECK(chunk_zero_costs(c, 0, 2));
    CHECK_EQ(chunk_zero(&c, 0, 2), 0);
    CHECK(!c->is_uncharged && !c->is_foreign);
    CHECK_EQ(byte_at(c, 2), 'o');
    CHECK(!strcmp(image, "root image"));
    chunk_put(c);
}

TEST(chunk_over_foreign_memory_is_copied_before_it_is_written)
{
    static const char image[] = "root image";
    struct chunk *c = chunk_new_foreign(image, 10);

    c->is_uncharged = true;
    CHECK_EQ(chunk_write(&c, 0, "R", 1, 0), 0);
    CHECK(!c->is_uncharged && !c->is_foreign);
    CHECK_EQ(byte_at(c, 0), 'R');
    CHECK_EQ(byte_at(c, 9), 'e');
    CHECK_EQ(byte_at(c, 10), 0);
    CHECK_EQ(image[0], 'r');
    chunk_put(c);
}

TEST(chunk_survives_each_allocation_failure)
{
    EACH_OOM(oom) {
        struct chunk *c = NULL, *f = chunk_new_foreign("abc", 3);
        struct chunk *z = chunk_new(0);
        int r = chunk_write(&c, 10, "x", 1, 0);
        CHECK(r == 0 || (r == -ENOMEM && !c));
        r = c ? chunk_write(&c, 1000, "y", 1, 0) : -ENOMEM;
        CHECK(!c || byte_at(c, 10) == 'x');
        r = f ? chunk_zero(&f, 0, 1) : -ENOMEM;
        CHECK(!f || byte_at(f, 2) == 'c');
        chunk_put(c);
        chunk_put(f);
        chunk_put(z);
    }
}
