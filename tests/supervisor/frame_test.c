#include "wire/frame.h"

#include "../unit/test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONG = 1 << 20 };

/* Reads until there is an event. */
static enum frame_event
next(struct frame *f, int hfd, char **ret_line, size_t *ret_len)
{
    enum frame_event e;

    while ((e = frame_next(f, ret_line, ret_len)) == FRAME_MORE)
        if (frame_read(f, hfd, true) <= 0)
            break;
    return e;
}

/* A file, so that whoever writes need not wait for who reads. */
static int
lines_hfd(void)
{
    static char line[LONG + 1];
    int hfd = memfd_create("lines", 0);

    memset(line, 'x', LONG);
    line[LONG] = '\n';
    CHECK_EQ(write(hfd, line, sizeof line), sizeof line);
    CHECK_EQ(lseek(hfd, 0, SEEK_SET), 0);
    return hfd;
}

TEST(the_room_for_a_long_line_is_given_back)
{
    struct frame f;
    size_t len = 0;
    char *line;
    int hfd = lines_hfd();

    frame_init(&f, LONG);
    CHECK_EQ(next(&f, hfd, &line, &len), FRAME_LINE);
    CHECK_EQ(len, LONG);
    CHECK(line[0] == 'x' && line[LONG - 1] == 'x');
    CHECK_EQ(frame_next(&f, &line, &len), FRAME_MORE);
    CHECK(f.cap <= 4 * (size_t)FRAME_READ_BYTES);
    CHECK_EQ(pwrite(hfd, "short\n", 6, LONG + 1), 6);
    CHECK_EQ(next(&f, hfd, &line, &len), FRAME_LINE);
    CHECK_EQ(len, 5);
    CHECK(frame_is_empty(&f));
    frame_fini(&f);
    close(hfd);
}

TEST(a_frame_can_keep_the_space_for_long_lines)
{
    struct frame f;
    size_t len = 0;
    char *line;
    int hfd = lines_hfd();

    frame_init(&f, LONG);
    f.keeps_space = true;
    CHECK_EQ(next(&f, hfd, &line, &len), FRAME_LINE);
    frame_shrink(&f);
    CHECK(f.cap <= 4 * (size_t)FRAME_READ_BYTES);
    CHECK_EQ(lseek(hfd, 0, SEEK_SET), 0);
    CHECK_EQ(next(&f, hfd, &line, &len), FRAME_LINE);
    CHECK_EQ(frame_next(&f, &line, &len), FRAME_MORE);
    CHECK(f.cap > LONG);
    CHECK_EQ(lseek(hfd, 0, SEEK_SET), 0);
    CHECK(frame_read(&f, hfd, true) > 0);
    frame_shrink(&f); /* not empty: nothing is lost */
    CHECK_EQ(next(&f, hfd, &line, &len), FRAME_LINE);
    CHECK_EQ(len, LONG);
    CHECK(line[0] == 'x' && line[LONG - 1] == 'x');
    frame_shrink(&f);
    CHECK(f.cap <= 4 * (size_t)FRAME_READ_BYTES);
    frame_fini(&f);
    close(hfd);
}
