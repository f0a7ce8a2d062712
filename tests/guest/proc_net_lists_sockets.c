/* /proc/net has a row for each socket, with its inode; /proc/1 has a name. */
#include "net.h"

static char text[1 << 20];

/* The row of the socket fd in a file of /proc/net. */
static const char *
row_of(const char *file, int fd)
{
    char path[64], inode[32];
    struct stat st;

    snprintf(path, sizeof path, "/proc/net/%s", file);
    CHECK(get(path, text, sizeof text) > 0);
    OK(fstat(fd, &st));
    snprintf(inode, sizeof inode, " %lu ", (unsigned long)st.st_ino);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char padded[1024];
        snprintf(padded, sizeof padded, "%s ", line);
        if (strstr(padded, inode))
            return line;
    }
    return "";
}

/* The state in a row of an internet socket, if its port is that of fd. */
static unsigned
inet_state(const char *file, int fd)
{
    char local[64] = "", remote[64];
    unsigned state = 0, port = 0;

    if (sscanf(row_of(file, fd), " %*d: %63s %63s %x", local, remote, &state) !=
        3)
        return 0;
    CHECK(strchr(local, ':') != NULL);
    CHECK_EQ(sscanf(strchr(local, ':'), ":%x", &port), 1);
    CHECK_EQ(port, (unsigned)port_of(fd));
    return state;
}

int
main(void)
{
    union addr a = {.un = {.sun_family = AF_UNIX}};
    int l = serve(AF_INET, SOCK_STREAM), l6 = serve(AF_INET6, SOCK_STREAM);
    int u = serve(AF_INET, SOCK_DGRAM), u6 = serve(AF_INET6, SOCK_DGRAM);
    int c = dial(AF_INET, port_of(l)), n;

    CHECK_EQ(inet_state("tcp", l), 0x0a);
    CHECK_EQ(inet_state("tcp", c), 0x01);
    CHECK_EQ(inet_state("tcp6", l6), 0x0a);
    CHECK_EQ(inet_state("udp", u), 0x07);
    CHECK_EQ(inet_state("udp6", u6), 0x07);
    CHECK_EQ(inet_state("tcp6", l), 0);
    CHECK(strstr(row_of("tcp", l), " 0100007F:") != NULL);
    CHECK(strstr(row_of("tcp6", l6), " 00000000000000000000000001000000:"));

    n = OK(socket(AF_UNIX, SOCK_STREAM, 0));
    strcpy(a.un.sun_path, "socket");
    OK(bind(n, &a.sa, sizeof a.un));
    OK(listen(n, 1));
    CHECK(strstr(row_of("unix", n), " 00010000 0001 01 ") != NULL);
    CHECK(strstr(row_of("unix", n), " socket") != NULL);
    OK(close(c));
    CHECK(get("/proc/1/cmdline", text, sizeof text) > 0);
    return 0;
}
