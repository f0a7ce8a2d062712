/* The server from its first line to its last, over a fake library. */
#include "rpc/server.h"

#include "../unit/test.h"
#include "fake_library.h"
#include "json_count.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Lets a server read the lines to their end, and returns the number of lines
 * that it wrote. */
static unsigned
serve(const char *lines)
{
    struct server_options o = {.grace_ms = 1};
    int in = memfd_create("in", 0), out = memfd_create("out", 0);
    unsigned n = 0;
    char c;

    fake_library_reset(0);
    CHECK_EQ(write(in, lines, strlen(lines)), strlen(lines));
    CHECK_EQ(lseek(in, 0, SEEK_SET), 0);
    CHECK_EQ(server_main(&o, in, out), 0);
    CHECK_EQ(lseek(out, 0, SEEK_SET), 0);
    while (read(out, &c, 1) == 1)
        n += c == '\n';
    close(in);
    close(out);
    return n;
}

TEST(server_parses_each_line_once)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"create\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"run\",\"params\":{"
        "\"command\":\"true\",\"env\":{\"A\":\"b\"},\"stream\":true}}\n",
        "[{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"status\"},"
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"files.list\","
        "\"params\":{\"path\":\"/\"}}]\n",
        "{\"type\":\"shell\",\"id\":\"5\",\"command\":\"true\"}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"env.list\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"nothing\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":\"cb_1\",\"result\":{}}\n",
        "no JSON\n",
    };
    enum { N = sizeof lines / sizeof *lines };
    char all[4096] = "";

    for (size_t i = 0; i < N; i++)
        strcat(all, lines[i]);
    (void)json_count_passes();
    CHECK(serve(all) >= N - 2); /* a notification and a reply have no answer */
    CHECK_EQ(json_count_passes(), N);
}
