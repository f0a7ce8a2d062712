/* A worker for tests: seals itself as workers do, then makes the attacks that
 * it is told to, in one process: `NAME ARG` on descriptor 0, what became of it
 * on descriptor 1, and at the end "= 0" (repelled) or "= 1" (worked).
 * `sealed list` prints the names. */
#include "sealed.h"

#include "seal/seal.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

bool is_compiling;

void
say(const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (write(1, line, (size_t)n) != n)
        _exit(9);
}

bool
worked(const char *what, long r)
{
    say("%s: %s\n", what, r < 0 ? strerrorname_np(errno) : "worked");
    return r >= 0;
}

bool
passed(const char *what, long r)
{
    return worked(what, r) || errno != EPERM;
}

/* --- what uses things up, and other ends */

static void *
wait_forever(void *arg)
{
    for (;;)
        sleep(1000);
    return arg;
}

static bool
start_a_thread(const char *arg)
{
    pthread_t thread;

    (void)arg;
    return pthread_create(&thread, NULL, wait_forever, NULL) != 0;
}

static bool
take_memory(const char *arg)
{
    size_t len = (size_t)atoi(arg) << 20;
    char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return worked("mmap", -1);
    for (size_t i = 0; i < len; i += 4096)
        p[i] = 1;
    return true;
}

/* As the engine does with the memory of processes. */
static bool
use_and_give_back(const char *arg)
{
    const size_t len = 4 << 20;

    for (int mb = 0; mb < atoi(arg); mb += 4) {
        char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return !worked("mmap", -1);
        *p = 1;
        madvise(p, len, MADV_DONTNEED);
    }
    return false;
}

static bool
crash(const char *arg)
{
    *(volatile int *)(arg - arg) = 0;
    return true;
}

static bool
spin(const char *arg)
{
    (void)arg;
    for (volatile int i = 1; i; i = 1)
        ;
    return true;
}

static bool
leave(const char *arg)
{
    static const char words[] = "last words\n";

    (void)!write(2, words, sizeof words - 1);
    _exit(atoi(arg));
}

static bool
echo(const char *arg)
{
    say("%s\n", arg);
    return false;
}

static const struct attack others[] = {
    {"echo", echo},
    {"start_a_thread", start_a_thread},
    {"spin", spin},
    {"take_memory", take_memory},
    {"use_and_give_back", use_and_give_back},
    {"crash", crash},
    {"leave", leave},
    {0},
};

/* --- being told */

static const struct attack *const tables[] = {attacks, code_attacks,
                                              call_attacks, others};

static const struct attack *
find(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct attack *a = tables[i]; a->name; a++)
            if (!strcmp(a->name, name))
                return a;
    return NULL;
}

static void
list(void)
{
    for (size_t i = 0; i < 3; i++)
        for (const struct attack *a = tables[i]; a->name; a++)
            puts(a->name);
}

static bool
read_line(char *line, size_t size)
{
    size_t n = 0;

    while (n < size - 1 &&
           (read(0, line + n, 1) == 1 || recv(0, line + n, 1, 0) == 1))
        if (line[n++] == '\n') {
            line[n - 1] = 0;
            return true;
        }
    return false;
}

static void
serve(void)
{
    char line[512];

    while (read_line(line, sizeof line)) {
        char *arg = strchr(line, ' ');
        if (arg)
            *arg++ = 0;
        const struct attack *a = find(line);
        say("= %d\n", a ? a->run(arg ? arg : "") : 2);
    }
}

static const struct {
    const char *name;
    int (*seal)(const char **ret_where);
} kinds[] = {
    {"unsealed", NULL},
    {"compiling", seal_with_compiler},
    {"compiler", seal_compiler},
    {"", seal},
};

static int
seal_as(const char *kind, const char **ret_where)
{
    size_t i = 0;

    is_compiling = !strcmp(kind, "compiling");
    while (*kinds[i].name && strcmp(kinds[i].name, kind) != 0)
        i++;
    return kinds[i].seal ? kinds[i].seal(ret_where) : 0;
}

int
main(int argc, char **argv)
{
    const char *where = "";

    if (argc > 1 && !strcmp(argv[1], "list")) {
        list();
        return 0;
    }
    if (argc > 2 && !strcmp(argv[2], "fail")) {
        fprintf(stderr, "it does not want to\n");
        return 3;
    }
    if (argc > 2 && !strcmp(argv[2], "threads"))
        (void)start_a_thread("");
    int r = seal_as(argc > 2 ? argv[2] : "", &where);
    if (r < 0) {
        fprintf(stderr, "seal: %s: %s\n", where, strerror(-r));
        return 4;
    }
    say("{\"jsonrpc\":\"2.0\",\"method\":\"worker.ready\"}\n");
    serve();
    return 0;
}
