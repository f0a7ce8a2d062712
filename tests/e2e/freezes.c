/* A program to be frozen, which then exits with the value of a thread-local
 * variable. Under the name "threaded" it has a second thread, and under the
 * name "sharing" memory that it shares with others and may write. Under the
 * name "reading" it may only read such memory. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wasmsand.h>

static _Thread_local int value = 1;

__attribute__((export_name("wasmsand_resume"))) void
resume(void)
{
    _exit(value);
}

static int
share(int protection)
{
    return mmap(NULL, 4096, protection, MAP_SHARED | MAP_ANONYMOUS, -1, 0) ==
                   MAP_FAILED
               ? -1
               : 0;
}

static void *
wait_for_ever(void *arg)
{
    for (;;)
        pause();
    return arg;
}

int
main(int argc, char **argv)
{
    pthread_t t;

    (void)argc;
    value = 42;
    if (!strcmp(argv[0], "threaded") &&
        pthread_create(&t, NULL, wait_for_ever, NULL) != 0)
        return 1;
    if (!strcmp(argv[0], "sharing") && share(PROT_READ | PROT_WRITE) < 0)
        return 1;
    if (!strcmp(argv[0], "reading") && share(PROT_READ) < 0)
        return 1;
    (void)wasmsand_next(0);
    return 1;
}
