/* post: fork */
/* A descriptor that gets another file while another thread waits in a call on
 * it: the call goes on with the old file, also if the process ends in it. */
#include "thread.h"

#include <sys/socket.h>
#include <sys/wait.h>

static int fds[2];
static volatile pid_t tid;

static void *
receive_one(void *arg)
{
    char byte = 0;

    (void)arg;
    tid = thread_id();
    CHECK_EQ(recv(fds[0], &byte, 1, 0), 1);
    return (void *)(long)byte;
}

static void *
fill(void *arg)
{
    static const char data[4096];

    (void)arg;
    tid = thread_id();
    for (;;)
        (void)write(fds[1], data, sizeof data);
}

static pthread_t
start_and_await_sleep(void *(*run)(void *))
{
    pthread_t t;

    tid = 0;
    t = thread_start(run, NULL);
    thread_await((volatile int *)&tid);
    thread_await_sleep(tid);
    return t;
}

static void
check_socket(void)
{
    int other[2];

    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, other));
    pthread_t t = start_and_await_sleep(receive_one);
    OK(dup2(other[0], fds[0]));
    CHECK_EQ(write(other[1], "n", 1), 1);
    CHECK_EQ(write(fds[1], "o", 1), 1);
    CHECK_EQ((long)thread_join(t), 'o');
}

/* The thread is killed in its write. */
static void
end_in_a_call(void)
{
    int other[2];

    OK(pipe(fds));
    OK(pipe(other));
    (void)start_and_await_sleep(fill);
    OK(dup2(other[1], fds[1]));
    OK(close(fds[0]));
    for (;;)
        pause();
}

int
main(void)
{
    int status;

    check_socket();
    pid_t pid = OK(fork());
    if (!pid)
        end_in_a_call();
    OK(waitpid(pid, &status, 0));
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), SIGPIPE);
    return 0;
}
