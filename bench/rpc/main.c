/* The server on a pipe, as a client in C sees it.
 *
 * Prints the best of many times. Echo, the server's answers and the rest come
 * in turn, so that other work on the machine hits them alike.
 *
 * usage: rpc SERVER ROOT-IMAGE
 *        rpc echo               (itself: gives back what it reads) */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BLOCKS = 40,
    IN_BLOCK = 100,
    CROWD = 1000,
    BOXES = 8,
    STARTS = 10,
    PAUSE_US = 100
};

#define REQUEST(method, params) \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\"" params "}\n"
#define PARAMS(members) ",\"params\":{" members "}"
#define COMMAND(text)   "\"command\":\"" text "\""
#define CREATE          REQUEST("create", PARAMS("\"fsLimitBytes\":1073741824"))
#define STATUS          REQUEST("status", "")
#define RUN_TRUE        REQUEST("run", PARAMS(COMMAND("true")))
#define LOOP            "for ((i = 0; i < 40000; i++)); do :; done"

static void
note_best(double *best, double us)
{
    if (*best == 0 || us < *best)
        *best = us;
}

static int
echo(void)
{
    static char buf[1 << 16];
    ssize_t n;

    while ((n = read(0, buf, sizeof buf)) > 0)
        if (write(1, buf, (size_t)n) != n)
            return 1;
    return 0;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* --- round trips */

/* After the pause, the server has done what it does after an answer. */
static double
ask_later(struct peer *server, const char *line)
{
    usleep(PAUSE_US);
    return peer_ask(server, line);
}

static void
bench_round_trips(struct peer *server, struct peer *echoes)
{
    static double soon_us[BLOCKS * IN_BLOCK];
    double echo_us = 0, status_us = 0, run_us = 0;

    for (int b = 0; b < BLOCKS; b++) {
        for (int i = 0; i < IN_BLOCK; i++)
            note_best(&echo_us, peer_ask(echoes, STATUS));
        for (int i = 0; i < IN_BLOCK; i++)
            note_best(&status_us, peer_ask(server, STATUS));
    }
    for (int i = 0; i < BLOCKS * IN_BLOCK; i++) {
        note_best(&run_us, ask_later(server, RUN_TRUE));
        soon_us[i] = peer_ask(server, RUN_TRUE);
    }
    qsort(soon_us, BLOCKS * IN_BLOCK, sizeof *soon_us, compare);
    printf("rpc echo %.2f us\nrpc status %.2f us\nrpc run true %.2f us\n",
           echo_us, status_us, run_us);
    printf("rpc run true, back to back %.2f us\n",
           soon_us[BLOCKS * IN_BLOCK / 2]);
}

/* 1 MiB of zeros as base64. */
static void
bench_write(struct peer *server)
{
    static const char head[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"files.write\",\"params\":"
        "{\"path\":\"/tmp/f\",\"data\":\"";
    enum { DATA_BYTES = ((1 << 20) + 2) / 3 * 4 };
    char *line = malloc(sizeof head + DATA_BYTES + 8);
    double us = 0;

    if (!line)
        die("memory");
    char *end = stpcpy(line, head);
    memset(end, 'A', DATA_BYTES);
    memcpy(end + DATA_BYTES - 2, "==", 2);
    strcpy(end + DATA_BYTES, "\"}}\n");
    for (int i = 0; i < BLOCKS; i++)
        note_best(&us, peer_ask(server, line));
    printf("rpc files.write %.3f ms\n", us / 1e3);
    free(line);
}

/* --- many sandboxes */

/* The ids are those that follow `last`. */
static void
destroy(struct peer *server, int last, int n)
{
    char *text = malloc((size_t)n * 128), *at = text;

    if (!text)
        die("memory");
    for (int i = 1; i <= n; i++)
        at += sprintf(
            at, REQUEST("sandbox.destroy", PARAMS("\"sandboxId\":\"%d\"")),
            last + i);
    peer_send(server, text, (size_t)(at - text));
    peer_receive(server, (size_t)n);
    free(text);
}

static void
bench_crowd(struct peer *server, int *last)
{
    static const char one[] = REQUEST("sandbox.create", "");
    static char text[CROWD * sizeof one];
    double us = 0;
    char *at = text;

    for (int i = 0; i < CROWD; i++)
        at = stpcpy(at, one);
    for (int i = 0; i < 5; i++) {
        double start = now_us();
        peer_send(server, text, (size_t)(at - text));
        peer_receive(server, CROWD);
        note_best(&us, now_us() - start);
        destroy(server, *last, CROWD);
        *last += CROWD;
    }
    printf("rpc 1,000 sandboxes %.2f ms\n", us / 1e3);
}

/* The same loop in n sandboxes at a time. */
static double
compute(struct peer *server, int last, int n)
{
    char text[BOXES * 256], *at = text;
    double start = now_us();

    for (int i = 1; i <= n; i++)
        at += sprintf(
            at, REQUEST("run", PARAMS(COMMAND(LOOP) ",\"sandboxId\":\"%d\"")),
            last + i);
    peer_send(server, text, (size_t)(at - text));
    peer_receive(server, (size_t)n);
    return now_us() - start;
}

static double
compute_natively(int n)
{
    double start = now_us();

    for (int i = 0; i < n; i++)
        if (vfork() == 0) {
            execl("/bin/bash", "bash", "-c", LOOP, NULL);
            _exit(127);
        }
    while (wait(NULL) > 0)
        ;
    return now_us() - start;
}

static void
bench_boxes(struct peer *server, int *last)
{
    double one = 0, all = 0;

    for (int i = 0; i < BOXES; i++)
        (void)peer_ask(server, REQUEST("sandbox.create", ""));
    for (int i = 0; i < STARTS; i++) {
        note_best(&one, compute(server, *last, 1));
        note_best(&all, compute(server, *last, BOXES));
    }
    destroy(server, *last, BOXES);
    *last += BOXES;
    printf("rpc 1 loop %.2f ms\nrpc %d loops %.2f ms\n", one / 1e3, BOXES,
           all / 1e3);
}

static void
bench_natives(void)
{
    double one = 0, two = 0;

    for (int i = 0; i < STARTS; i++) {
        note_best(&one, compute_natively(1));
        note_best(&two, compute_natively(2));
    }
    printf("1 native loop %.2f ms\n2 native loops %.2f ms\n", one / 1e3,
           two / 1e3);
}

/* --- the start */

static void
bench_start(const char *const *argv)
{
    double first = 0, ran = 0;

    for (int i = 0; i < STARTS; i++) {
        struct peer p;
        double start = now_us();
        peer_start(&p, argv);
        (void)peer_ask(&p, CREATE);
        note_best(&first, now_us() - start);
        (void)peer_ask(&p, RUN_TRUE);
        note_best(&ran, now_us() - start);
        peer_stop(&p);
    }
    printf("rpc start %.2f ms\nrpc start and run %.2f ms\n", first / 1e3,
           ran / 1e3);
}

int
main(int argc, char **argv)
{
    struct peer server, echoes;
    int last = 0;

    if (argc == 2 && !strcmp(argv[1], "echo"))
        return echo();
    if (argc != 3) {
        fprintf(stderr, "usage: rpc SERVER ROOT-IMAGE\n");
        return 2;
    }
    bench_natives(); /* while there are no other children */
    const char *const serve[] = {argv[1], "--root", argv[2], NULL};
    const char *const give_back[] = {argv[0], "echo", NULL};
    peer_start(&server, serve);
    peer_start(&echoes, give_back);
    (void)peer_ask(&server, CREATE);
    bench_round_trips(&server, &echoes);
    bench_write(&server);
    bench_crowd(&server, &last);
    bench_boxes(&server, &last);
    peer_stop(&echoes);
    peer_stop(&server);
    bench_start(serve);
    return 0;
}
