/* Fuzzes the process that compiles for a sealed worker: what a worker that was
 * taken over can send on its sockets. Each input has such a process of its own.
 *
 * The input is a list of steps: a byte for what happens and on which socket,
 * one for a length, then so many bytes. As long as nothing but orders was sent,
 * each of them is answered once; the code in an answer cannot be changed. */
#include "alarm.h"
#include "engine/compiler.h"
#include "engine/compiler_remote.h"
#include "engine/engine.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_MAX = 32, FIRST_FREE_HFD = 64 };
enum { ORDER, BYTES, CANCEL, TAKE, KINDS };

struct peer {
    int hfds[REMOTE_SLOTS];
    bool is_owed[REMOTE_SLOTS]; /* an answer */
    bool is_lost;               /* it was sent what is no order */
    pid_t pid;
};

static void
must(bool ok)
{
    if (!ok)
        abort();
}

static int
seal_nothing(const char **ret_where)
{
    (void)ret_where;
    return 0;
}

static _Noreturn void
compiler_serve_become(const int *hfds)
{
    for (int i = 0; i < REMOTE_SLOTS; i++)
        must(dup2(hfds[i], REMOTE_FIRST_HFD + i) >= 0);
    must(close_range(FIRST_FREE_HFD, ~0U, 0) == 0);
    compilers_main(seal_nothing);
}

static void
begin(struct peer *p)
{
    int there[REMOTE_SLOTS], pair[2];
    char byte;

    for (int i = 0; i < REMOTE_SLOTS; i++) {
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        p->hfds[i] = fcntl(pair[0], F_DUPFD, FIRST_FREE_HFD);
        there[i] = fcntl(pair[1], F_DUPFD, FIRST_FREE_HFD);
        must(p->hfds[i] >= 0 && there[i] >= 0);
        must(close(pair[0]) == 0 && close(pair[1]) == 0);
    }
    p->pid = fork();
    if (p->pid == 0)
        compiler_serve_become(there);
    for (int i = 0; i < REMOTE_SLOTS; i++)
        must(close(there[i]) == 0);
    must(p->pid > 0 && read(p->hfds[0], &byte, 1) == 1);
}

static void
end(struct peer *p)
{
    int status;

    for (int i = 0; i < REMOTE_SLOTS; i++)
        must(close(p->hfds[i]) == 0);
    must(waitpid(p->pid, &status, 0) == p->pid && WIFEXITED(status));
    must(WEXITSTATUS(status) <= COMPILER_FAILED);
    must(p->is_lost || WEXITSTATUS(status) != COMPILER_REFUSED);
}

static void
check_code(int hfd, uint64_t len)
{
    const int sealed = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    struct stat st;

    must(fstat(hfd, &st) == 0 && len && (uint64_t)st.st_size == len);
    must(fcntl(hfd, F_GET_SEALS) == sealed && close(hfd) == 0);
}

static void
take(struct peer *p, int i)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } c;
    struct remote_answer a;
    struct iovec v = {&a, sizeof a};
    struct msghdr m = {.msg_iov = &v,
                       .msg_iovlen = 1,
                       .msg_control = &c,
                       .msg_controllen = sizeof c};

    if (p->is_lost || !p->is_owed[i])
        return;
    must(recvmsg(p->hfds[i], &m, MSG_WAITALL) == sizeof a);
    p->is_owed[i] = false;
    must(!a.error == !!CMSG_FIRSTHDR(&m) && a.error <= 0);
    if (!a.error)
        check_code(*(int *)CMSG_DATA(&c.head), a.len);
    must(memchr(a.why, 0, sizeof a.why) != NULL);
}

static void
step(struct peer *p, uint8_t what, const uint8_t *data, size_t n)
{
    int i = what / KINDS % REMOTE_SLOTS, kind = what % KINDS;
    const struct compiler_remote_order o = {
        kind == ORDER ? REMOTE_COMPILE : REMOTE_CANCEL, (uint32_t)n};

    if (kind == TAKE) {
        take(p, i);
        return;
    }
    if (kind != BYTES)
        (void)send(p->hfds[i], &o, sizeof o, MSG_NOSIGNAL);
    if (kind == CANCEL)
        return;
    (void)send(p->hfds[i], data, n, MSG_NOSIGNAL);
    p->is_lost = p->is_lost || kind == BYTES || !n || p->is_owed[i];
    p->is_owed[i] = true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct peer p = {0};

    alarm_restarts_calls();
    begin(&p);
    for (int i = 0; i < STEPS_MAX && size >= 2; i++) {
        size_t n = data[1] < size - 2 ? data[1] : size - 2;
        step(&p, data[0], data + 2, n);
        data += 2 + n;
        size -= 2 + n;
    }
    end(&p);
    return 0;
}
