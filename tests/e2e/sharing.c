/* post: fork */
/* Attacks with shared memory, and processes that use it beside others. */
#include "attack.h"

#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

enum { PAGE = 4096, MAPPINGS = 10000, CHAOS = 60 };
#define RW   (PROT_READ | PROT_WRITE)
#define PATH "/dev/shm/page"

static char *
map_page(int fd)
{
    char *p = mmap(NULL, PAGE, RW,
                   fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* --- limits */

static void
mapping_bomb(void)
{
    int n = 0;

    while (n < MAPPINGS && map_page(-1))
        n++;
    CHECK(n > 1000 && n < MAPPINGS && errno == ENOMEM);
}

/* The file stays. */
static void
shm_bomb(void)
{
    static char block[1 << 16];
    int fd = open("/dev/shm/bomb", O_RDWR | O_CREAT, 0600);
    ssize_t n;

    CHECK(fd >= 0);
    memset(block, 'x', sizeof block);
    while ((n = write(fd, block, sizeof block)) > 0)
        ;
    CHECK(n < 0 && errno == ENOSPC);
}

/* The segments stay. */
static void
segment_bomb(void)
{
    while (shmget(IPC_PRIVATE, 1 << 20, 0600) >= 0)
        ;
    CHECK(errno == ENOSPC);
}

/* --- at any instant */

static void
store_for_ever(volatile char *page)
{
    char *const argv[] = {"sharing", "exit", NULL};
    int fd = open(PATH, O_RDWR | O_CREAT, 0600);

    CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0);
    for (int i = 0;; i++) {
        char *p = map_page(fd);
        CHECK(p != NULL);
        p[i % PAGE]++;
        page[i % 2]++;
        pid_t pid = fork();
        if (!pid && i % 2)
            execve(SELF, argv, environ);
        if (!pid)
            _exit(p[0]);
        CHECK(munmap(p, PAGE) == 0);
        if (pid > 0)
            (void)waitpid(pid, NULL, 0);
    }
}

/* Processes that map, fork and exec are killed at random moments. What they
 * share with this one stays. */
static void
sharing_chaos(void)
{
    volatile char *page = map_page(-1);

    CHECK(page != NULL);
    page[2] = 'k';
    for (int i = 0; i < CHAOS; i++) {
        int status;
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (!pid)
            store_for_ever(page);
        for (int n = rand() % 32; n > 0; n--)
            sched_yield();
        CHECK(kill(pid, SIGKILL) == 0);
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    CHECK(page[2] == 'k');
}

/* --- beside requests */

/* Stores a letter, and ends when another process has stored one. */
static void
keep_page(void)
{
    int fd = open(PATH, O_RDWR | O_CREAT, 0600);

    CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0);
    volatile char *p = map_page(fd);
    CHECK(p != NULL);
    p[0] = 'k';
    while (!p[1])
        sched_yield();
}

/* Prints the letter of keep_page, and answers it. */
static void
answer_page(void)
{
    int fd = open(PATH, O_RDWR);

    CHECK(fd >= 0);
    volatile char *p = map_page(fd);
    CHECK(p != NULL);
    printf("%c\n", p[0]);
    p[1] = 'a';
}

/* Two processes spin for one another. Prints how long. */
static void
spin_in_turns(void)
{
    volatile int *turn = (volatile int *)map_page(-1);
    unsigned long n = 0;

    CHECK(turn != NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    for (int i = 0; i < 100; i++) {
        while (*turn % 2 != (pid == 0))
            n++;
        ++*turn;
    }
    if (!pid)
        _exit(0);
    CHECK(waitpid(pid, NULL, 0) == pid);
    CHECK(*turn == 200);
    printf("%lu\n", n);
}

#define ATTACK(name) \
    {                \
#name, name  \
    }
static const struct attack attacks[] = {
    ATTACK(mapping_bomb),  ATTACK(shm_bomb),  ATTACK(segment_bomb),
    ATTACK(sharing_chaos), ATTACK(keep_page), ATTACK(answer_page),
    ATTACK(spin_in_turns), {NULL, NULL},
};
