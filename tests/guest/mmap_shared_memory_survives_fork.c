/* Anonymous shared memory is the same in a parent and its children. */
/* post: fork */
#include "guest.h"
#include <signal.h>
#include <sys/mman.h>

enum { LEN = 3 * 4096 };

static void
child_stores(void)
{
    char *p = OK(mmap(NULL, LEN, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    char *own = OK(mmap(NULL, LEN, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

    for (int i = 0; i < LEN; i++)
        CHECK(!p[i]);
    strcpy(p, "parent");
    pid_t pid = OK(fork());
    if (!pid) {
        CHECK_STR(p, "parent");
        strcpy(p + LEN - 8, "child");
        strcpy(own, "child");
        _exit(0);
    }
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_STR(p + LEN - 8, "child");
    CHECK_STR(own, "");
    OK(munmap(p, LEN));
    OK(munmap(own, LEN));
}

/* A child of a child still has it, after its parent has ended. */
static void
grandchild_stores(void)
{
    volatile int *p = OK(mmap(NULL, LEN, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    int begin[2], end[2];
    char c;

    OK(pipe(begin));
    OK(pipe(end));
    pid_t pid = OK(fork());
    if (!pid) {
        if (fork() == 0) {
            CHECK_EQ(read(begin[0], &c, 1), 1);
            CHECK_EQ(p[1], 5);
            p[0] = 7;
            CHECK_EQ(write(end[1], "x", 1), 1);
        }
        _exit(0);
    }
    CHECK_EQ(wait_exit(pid), 0);
    OK(close(end[1]));
    p[1] = 5;
    CHECK_EQ(write(begin[1], "x", 1), 1);
    CHECK_EQ(read(end[0], &c, 1), 1);
    CHECK_EQ(p[0], 7);
    OK(munmap((void *)p, LEN));
}

/* What a child unmaps stays in its parent, and a killed child leaves what it
 * has stored. */
static void
child_unmaps_or_is_killed(void)
{
    volatile char *p = OK(mmap(NULL, LEN, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    int status;

    p[4096] = 1;
    pid_t pid = OK(fork());
    if (!pid) {
        p[0] = 2;
        OK(munmap((void *)p, LEN));
        _exit(0);
    }
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(p[0], 2);
    CHECK_EQ(p[4096], 1);
    pid = OK(fork());
    if (!pid) {
        p[8192] = 3;
        kill(getpid(), SIGKILL);
    }
    CHECK_EQ(OK(waitpid(pid, &status, 0)), pid);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(p[8192], 3);
    OK(munmap((void *)p, LEN));
}

int
main(void)
{
    child_stores();
    grandchild_stores();
    child_unmaps_or_is_killed();
    /* Memory that was shared is private and zero when it is mapped anew. */
    char *p = OK(mmap(NULL, LEN, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (int i = 0; i < LEN; i++)
        CHECK(!p[i]);
    return 0;
}
