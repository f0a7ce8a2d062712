/* Programs at the other end of pipes. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BUF_BYTES = 1 << 16 };

extern char **environ;

double
now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

void
die(const char *what)
{
    fprintf(stderr, "bench/rpc: %s: %s\n", what, strerror(errno));
    exit(2);
}

void
peer_start(struct peer *p, const char *const *argv)
{
    posix_spawn_file_actions_t fa;
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        die("pipe");
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, in[0], 0);
    posix_spawn_file_actions_adddup2(&fa, out[1], 1);
    errno =
        posix_spawn(&p->pid, argv[0], &fa, NULL, (char *const *)argv, environ);
    if (errno)
        die(argv[0]);
    posix_spawn_file_actions_destroy(&fa);
    close(in[0]);
    close(out[1]);
    p->in_hfd = in[1];
    p->out_hfd = out[0];
    p->len = 0;
    p->cap = BUF_BYTES;
    p->buf = malloc(p->cap);
    if (!p->buf)
        die("memory");
}

void
peer_stop(struct peer *p)
{
    int status;

    close(p->in_hfd);
    close(p->out_hfd);
    free(p->buf);
    if (waitpid(p->pid, &status, 0) < 0 || status)
        die("a program has failed");
}

void
peer_send(const struct peer *p, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(p->in_hfd, bytes, len);
        if (n < 0)
            die("write");
        bytes += n;
        len -= (size_t)n;
    }
}

static size_t
count_lines(const char *s, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += s[i] == '\n';
    return n;
}

static void
read_some(struct peer *p)
{
    if (p->len == p->cap)
        p->buf = realloc(p->buf, p->cap *= 2);
    if (!p->buf)
        die("memory");
    ssize_t n = read(p->out_hfd, p->buf + p->len, p->cap - p->len);
    if (n <= 0)
        die("read");
    p->len += (size_t)n;
}

void
peer_receive(struct peer *p, size_t n)
{
    p->len = 0;
    while (n) {
        size_t old = p->len;
        read_some(p);
        n -= count_lines(p->buf + old, p->len - old);
    }
    if (memmem(p->buf, p->len, "\"error\"", 7)) {
        fprintf(stderr, "bench/rpc: %.*s\n", (int)p->len, p->buf);
        exit(2);
    }
}

double
peer_ask(struct peer *p, const char *line)
{
    size_t len = strlen(line);
    double start = now_us();

    peer_send(p, line, len);
    peer_receive(p, 1);
    return now_us() - start;
}
