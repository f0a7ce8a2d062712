#include "supervisor/common/ring.h"

#include "../unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Writes to the ring through a pipe that does not wait. */
static void
fill(struct ring *r, const char *text)
{
    int v[2];

    CHECK_EQ(pipe2(v, O_NONBLOCK), 0);
    CHECK_EQ(ring_fill(r, v[0]), -EAGAIN);
    CHECK_EQ(write(v[1], text, strlen(text)), (ssize_t)strlen(text));
    while (ring_fill(r, v[0]) > 0)
        ;
    close(v[1]);
    CHECK_EQ(ring_fill(r, v[0]), 0);
    close(v[0]);
}

static void
check(const struct ring *r, uint64_t at, size_t size, uint64_t first,
      const char *text)
{
    char got[32] = "";
    uint64_t ret;

    CHECK_EQ(ring_copy(r, at, got, size, &ret), strlen(text));
    CHECK_EQ(ret, first);
    CHECK_EQ(strcmp(got, text), 0);
}

TEST(a_ring_keeps_the_last_bytes)
{
    struct ring r;

    CHECK_EQ(ring_init(&r, 8), 0);
    fill(&r, "abc");
    check(&r, 0, 31, 0, "abc");
    check(&r, 1, 1, 1, "b");
    check(&r, 9, 31, 3, "");
    fill(&r, "defghij");
    CHECK_EQ(r.end, 10);
    check(&r, 0, 31, 2, "cdefghij");
    check(&r, 7, 2, 7, "hi");
    ring_fini(&r);
}
