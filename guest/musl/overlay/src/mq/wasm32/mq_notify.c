/* SPDX-License-Identifier: MIT */
/* SIGEV_THREAD: the kernel reports to an event counter, whose number is in
 * place of the signal. A thread that exists from the start reads it: 1 for a
 * message, 2 if the registration has ended without one. */
#include <mqueue.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "syscall.h"
#include "wsys.h"

struct start {
    sem_t copied;
    int fd;
    const struct sigevent *event;
};

static void *
notify(void *arg)
{
    struct start *start = arg;
    void (*func)(union sigval) = start->event->sigev_notify_function;
    union sigval value = start->event->sigev_value;
    int fd = start->fd;
    uint64_t event = 0;

    sem_post(&start->copied);
    while (read(fd, &event, sizeof event) < 0 && errno == EINTR)
        ;
    close(fd);
    if (event == 1)
        func(value);
    return 0;
}

/* Returns an errno. */
static int
start_thread(struct start *start, pthread_t *ret)
{
    pthread_attr_t attr;

    if (start->event->sigev_notify_attributes)
        attr = *start->event->sigev_notify_attributes;
    else
        pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sem_init(&start->copied, 0, 0);
    int r = pthread_create(ret, &attr, notify, start);
    while (!r && sem_wait(&start->copied))
        ;
    return r;
}

int
mq_notify(mqd_t queue, const struct sigevent *event)
{
    struct start start = {.event = event};
    pthread_t thread;

    if (!event || event->sigev_notify != SIGEV_THREAD)
        return syscall(SYS_mq_notify, queue, event);
    start.fd = eventfd(0, EFD_CLOEXEC);
    if (start.fd < 0)
        return -1;
    if (start_thread(&start, &thread)) {
        close(start.fd);
        errno = EAGAIN;
        return -1;
    }
    struct sigevent to_counter = {.sigev_notify = SIGEV_THREAD,
                                  .sigev_signo = start.fd};
    long r = __syscall(SYS_mq_notify, queue, &to_counter);
    if (r < 0)
        __syscall(SYS_write, start.fd, &(uint64_t){2}, sizeof(uint64_t));
    return __syscall_ret(r);
}
