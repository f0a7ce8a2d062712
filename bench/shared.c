/* post: fork */
/* Shared memory: a semaphore and a page that two processes hand over, and a
 * mapping of one page of a file. */
#include "bench.h"

#include <fcntl.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HANDS = 2000, MAPS = 50, PAGE = 4096 };

struct page {
    sem_t to[2];
    volatile int stored;
};

static struct page *page;

/* Each side sees what the other one has stored. */
static void
alternate(int me)
{
    for (int i = 0; i < HANDS / 2; i++) {
        NEED(sem_wait(&page->to[me]) == 0);
        NEED(page->stored == 2 * i + me);
        page->stored++;
        NEED(sem_post(&page->to[!me]) == 0);
    }
}

static void
hand_over(void)
{
    page->stored = 0;
    NEED(sem_init(&page->to[0], 1, 1) == 0);
    NEED(sem_init(&page->to[1], 1, 0) == 0);
    pid_t child = fork();
    NEED(child >= 0);
    if (!child) {
        alternate(1);
        _exit(0);
    }
    alternate(0);
    NEED(waitpid(child, NULL, 0) == child);
}

static int file;

static void
map_often(void)
{
    for (int i = 0; i < MAPS; i++) {
        volatile char *p =
            mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        NEED(p != MAP_FAILED);
        *p = 1;
        NEED(munmap((void *)p, PAGE) == 0);
    }
}

int
main(void)
{
    char path[] = "/tmp/bench-shared-XXXXXX";

    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    NEED(page != MAP_FAILED);
    report("shared semaphore hand-over", best_ns(hand_over, HANDS) / 1000,
           "us");
    file = mkstemp(path);
    NEED(file >= 0 && unlink(path) == 0 && ftruncate(file, PAGE) == 0);
    report("mmap+munmap shared page", best_ns(map_often, MAPS) / 1000, "us");
    return 0;
}
