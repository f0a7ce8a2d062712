/* What uses things up in a jail: `escape NAME AMOUNT`. The status is 0 if
 * nothing has stopped it, else an errno. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

int use(const char *name, char **arg);

static int
fill(char *p, size_t mb)
{
    if (p == MAP_FAILED)
        return errno;
    for (size_t i = 0; i < mb << 20; i += 4096)
        p[i] = 1;
    return 0;
}

static int
use_heap(char **arg)
{
    size_t mb = (size_t)atoi(arg[0]);

    return fill(mmap(NULL, mb << 20, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                mb);
}

static int
use_stay(char **arg)
{
    return use_heap(arg) ? 1 : pause();
}

static int
use_shared(char **arg)
{
    size_t mb = (size_t)atoi(arg[0]);

    return fill(mmap(NULL, mb << 20, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                mb);
}

/* Written to, never mapped. */
static int
use_memfd(char **arg)
{
    static char block[1 << 20];
    int fd = memfd_create("x", 0);

    if (fd < 0)
        return errno;
    for (int i = 0; i < atoi(arg[0]); i++)
        if (write(fd, block, sizeof block) != sizeof block)
            return errno;
    return pause();
}

static int
use_sysv(char **arg)
{
    size_t mb = (size_t)atoi(arg[0]);
    int id = shmget(IPC_PRIVATE, mb << 20, IPC_CREAT | 0600);

    return id < 0 ? errno : fill(shmat(id, NULL, 0), mb);
}

/* In eight processes that stay, each with a part that is allowed. */
static int
use_many(char **arg)
{
    size_t mb = (size_t)atoi(arg[0]) / 8;

    for (int i = 0; i < 8; i++) {
        if (!fork()) {
            (void)fill(mmap(NULL, mb << 20, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                       mb);
            pause();
        }
    }
    return pause();
}

/* Every process forks; the first that cannot lets the first one end. */
static int
use_processes(char **arg)
{
    int end[2];
    char byte;

    (void)arg;
    if (pipe(end) < 0)
        return errno;
    if (fork())
        return read(end[0], &byte, 1) == 1 ? 0 : EIO;
    for (;;)
        if (fork() < 0 && write(end[1], "x", 1) == 1)
            pause();
}

static int
use_cpu(char **arg)
{
    clock_t end = atoi(arg[0]) * (CLOCKS_PER_SEC / 1000);

    while (clock() < end)
        ;
    return 0;
}

/* Leaves a daemon behind that has nothing to do with us any more. */
static int
use_daemon(char **arg)
{
    (void)arg;
    if (!fork() && setsid() && !fork())
        pause();
    return 0;
}

static const struct {
    const char *name;
    int (*use)(char **arg);
} uses[] = {
    {"heap", use_heap},           {"stay", use_stay}, {"shared", use_shared},
    {"memfd", use_memfd},         {"sysv", use_sysv}, {"many", use_many},
    {"processes", use_processes}, {"cpu", use_cpu},   {"daemon", use_daemon},
};

int
use(const char *name, char **arg)
{
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (!strcmp(name, uses[i].name))
            return uses[i].use(arg);
    return -1;
}
