/* A vfork child of a thread that sets its tid address leaves that of the thread
 * alone: the thread ends as any other, and threads can be started after it. */
#include "thread.h"

static volatile int word = 1;

static void *
has_a_child(void *arg)
{
    int status;

    (void)arg;
    pid_t pid = OK(vfork());
    if (pid == 0)
        _exit(syscall(SYS_set_tid_address, &word) == getpid() ? 7 : 8);
    CHECK_EQ(OK(waitpid(pid, &status, 0)), pid);
    CHECK_EQ(WEXITSTATUS(status), 7);
    word = 2;
    return NULL;
}

static void *
ends(void *arg)
{
    return arg;
}

int
main(void)
{
    thread_join(thread_start(has_a_child, NULL));
    CHECK_EQ(word, 2); /* the end of the thread did not clear it */
    for (int i = 0; i < 3; i++)
        CHECK(thread_join(thread_start(ends, (void *)&word)) == (void *)&word);
    return 0;
}
