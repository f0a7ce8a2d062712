/* The first thread may end before others; exit in any thread, a fatal signal
 * and a fault end all of them, also those that spin or sleep. */
#include "thread.h"

static volatile int spins;

static void *
spin(void *arg)
{
    for (;;)
        spins++;
    return arg;
}

static void *
sleep_on(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void *
call_exit(void *arg)
{
    thread_await(&spins);
    exit((int)(long)arg);
}

static void *
call_raw_exit(void *arg)
{
    syscall(SYS_exit_group, (int)(long)arg);
    return NULL;
}

static void *
fault(void *arg)
{
    thread_await(&spins);
    *(volatile char *)BAD_ADDR = 1;
    return arg;
}

static void *
outlive(void *arg)
{
    while (thread_state(getpid()) != 'Z')
        sched_yield();
    puts("outlived");
    return arg;
}

static int
child(const char *what)
{
    thread_start(sleep_on, NULL);
    thread_start(spin, NULL);
    if (!strcmp(what, "exit"))
        thread_start(call_exit, (void *)5);
    else if (!strcmp(what, "raw"))
        thread_start(call_raw_exit, (void *)6);
    else if (!strcmp(what, "fault"))
        thread_start(fault, NULL);
    else if (!strcmp(what, "return"))
        return 7;
    else if (!strcmp(what, "kill"))
        pthread_kill(thread_start(sleep_on, NULL), SIGKILL);
    for (;;)
        pause();
}

static int
outlived(void)
{
    thread_start(outlive, NULL);
    pthread_exit(NULL);
}

static int
status_of(const char *what)
{
    int status;
    pid_t pid = spawn_self(what);

    CHECK_EQ(OK(waitpid(pid, &status, 0)), pid);
    return status;
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        return strcmp(argv[1], "outlive") ? child(argv[1]) : outlived();

    CHECK_EQ(status_of("exit"), 5 << 8);
    CHECK_EQ(status_of("raw"), 6 << 8);
    CHECK_EQ(status_of("return"), 7 << 8);
    CHECK_EQ(status_of("fault") & 0x7f, SIGSEGV);
    CHECK_EQ(status_of("kill") & 0x7f, SIGKILL);
    CHECK_EQ(status_of("outlive"), 0);
    return 0;
}
