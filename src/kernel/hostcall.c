/* Commands of the host.
 *
 * The call is made once, at the first try; its hold keeps the pending answer
 * while the thread waits. If the process ends meanwhile, the hold is dropped
 * and the answer, when it comes, has no receiver. */
#include "kernel/hostcall.h"

#include "kernel/capture.h"
#include "kernel/kernel.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <stdlib.h>

void
hostcall_init(struct hostcall *c, void (*drop)(OWN struct call_hold *h))
{
    *c = (struct hostcall){.hold.drop = drop};
    waitq_init(&c->answered);
}

void
hostcall_fini(struct hostcall *c)
{
    waitq_fini(&c->answered);
    free(c->out);
    free(c->err);
}

void
hostcall_answer(struct hostcall *c, int status, OWN char *out, size_t out_len,
                OWN char *err, size_t err_len)
{
    c->is_answered = true;
    c->status = status;
    c->out = out;
    c->out_len = out_len;
    c->err = err;
    c->err_len = err_len;
    waitq_wake(&c->answered);
}

/* The input is passed on directly: the host copies it before this returns. */
static int
hostcall_ask(struct task *t, gaddr in, uint32_t len)
{
    struct kernel *k = t->kernel;
    const void *input = guest_in(t, in, len);
    struct hostcall *c;

    if (!k->host_call)
        return -ENOSYS;
    if (!input)
        return -EFAULT;
    int r = k->host_call(k->host_arg, t, input, len, &c);
    if (r == 0)
        t->thread->call.hold = &c->hold;
    return r;
}

static int
hostcall_open_answer(struct task *t, const struct hostcall *c, int32_t ret[2])
{
    struct file *out, *err;

    int r =
        capture_input_open(t->kernel, c->out ? c->out : "", c->out_len, &out);
    if (r < 0)
        return r;
    r = capture_input_open(t->kernel, c->err ? c->err : "", c->err_len, &err);
    if (r < 0) {
        file_put(out);
        return r;
    }
    return fd_install_pair(t, out, err, true, ret);
}

/* host_command(in, len, fds): returns the status that the host reports, and two
 * descriptors to read its output and its messages from. -ENOENT: the program is
 * not one of the host's commands. */
int64_t
sys_host_command(struct task *t, const union sysarg *a)
{
    struct thread *th = t->thread;
    int32_t fds[2];
    int r = th->call.hold ? 0 : hostcall_ask(t, a[0].addr, a[1].u);

    if (r < 0)
        return r;
    const struct hostcall *c =
        CONTAINER_OF(th->call.hold, struct hostcall, hold);
    if (!c->is_answered) {
        thread_wait_on(th, (struct waitq *)&c->answered);
        return -EWAIT;
    }
    r = hostcall_open_answer(t, c, fds);
    if (r < 0)
        return r;
    r = copy_to_guest(t, a[2].addr, fds, sizeof fds);
    if (r < 0)
        fd_close_pair(t, fds);
    return r < 0 ? r : c->status;
}
