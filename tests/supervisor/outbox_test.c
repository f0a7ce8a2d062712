#include "wire/outbox.h"

#include "../unit/test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

TEST(a_line_is_sent_in_one_piece)
{
    struct outbox o;
    char got[16] = "";
    int v[2];

    CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, v), 0);
    outbox_init(&o, v[0]);
    outbox_put_line(&o, "abc", 3);
    CHECK_EQ(read(v[1], got, sizeof got), 4);
    CHECK_EQ(strcmp(got, "abc\n"), 0);
    CHECK_EQ(outbox_queued(&o), 0);
    outbox_fini(&o);
    close(v[0]);
    close(v[1]);
}

enum { LINES = 60, LINE_BYTES = 2999 };

static void
put_lines(struct outbox *o)
{
    char line[LINE_BYTES];

    for (int i = 0; i < LINES; i++) {
        memset(line, 'a' + i % 26, sizeof line);
        outbox_put_line(o, line, sizeof line);
    }
}

static char
byte_at(size_t at)
{
    size_t line = at / (LINE_BYTES + 1);

    return at % (LINE_BYTES + 1) == LINE_BYTES ? '\n' : (char)('a' + line % 26);
}

/* All of it, as the lines were put. */
static void
check_lines(struct outbox *o, int hfd)
{
    char block[1000];
    size_t at = 0;
    ssize_t n;

    while ((n = read(hfd, block, sizeof block)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            CHECK(block[i] == byte_at(at++));
        outbox_flush(o);
    }
    CHECK_EQ(at, (size_t)LINES * (LINE_BYTES + 1));
}

TEST(what_is_not_taken_of_lines_comes_later)
{
    struct outbox o;
    int v[2];

    CHECK_EQ(pipe2(v, O_NONBLOCK), 0);
    outbox_init(&o, v[1]);
    put_lines(&o);
    CHECK(outbox_queued(&o) > 0);
    CHECK(!o.is_broken);
    check_lines(&o, v[0]);
    CHECK_EQ(outbox_queued(&o), 0);
    outbox_fini(&o);
    close(v[0]);
    close(v[1]);
}

TEST(a_line_to_nobody_breaks_the_outbox)
{
    struct outbox o;

    outbox_init(&o, -1);
    outbox_put_line(&o, "abc", 3);
    CHECK(o.is_broken);
    CHECK_EQ(outbox_queued(&o), 0);
    outbox_fini(&o);
}
