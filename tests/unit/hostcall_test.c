/* Commands of the host, as the kernel sees them. */
#include "kernel/hostcall.h"
#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 256, FDS = 1024, BUF = 2048 };

static int drops;

static void
drop(struct call_hold *h)
{
    struct hostcall *c = CONTAINER_OF(h, struct hostcall, hold);

    drops++;
    hostcall_fini(c);
    free(c);
}

static int
take_call(void *arg, struct task *t, const void *in, size_t len,
          struct hostcall **ret)
{
    struct hostcall *c = malloc(sizeof *c);

    (void)t;
    if (!c)
        return -ENOMEM;
    CHECK(len == 5 && !memcmp(in, "input", 5));
    hostcall_init(c, drop);
    *(struct hostcall **)arg = *ret = c;
    return 0;
}

TEST(hostcall_waits_for_its_answer)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct hostcall *c = NULL;
    gaddr in = world_str(t, IN, "input");
    int before = drops;

    CHECK_EQ(SYS(t, NR_host_command, in, 5, FDS), -ENOSYS);
    k->host_call = take_call;
    k->host_arg = &c;
    CHECK_EQ(SYS(t, NR_host_command, in, 0xffffffff, FDS), -EFAULT);
    CHECK_EQ(SYS(t, NR_host_command, in, 5, FDS), -EWAIT);
    CHECK(!world_is_woken(t));
    hostcall_answer(c, 7, strdup("out"), 3, NULL, 0);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_host_command, in, 5, FDS), 7);
    CHECK_EQ(drops, before + 1);
    int32_t *fds = world_at(t, FDS);
    CHECK_EQ(SYS(t, NR_read, (uint32_t)fds[0], BUF, 100), 3);
    CHECK(!memcmp(world_at(t, BUF), "out", 3));
    CHECK_EQ(SYS(t, NR_read, (uint32_t)fds[1], BUF, 100), 0);
    kernel_free(k);
}

TEST(hostcall_is_dropped_with_its_process)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct hostcall *c = NULL;
    int before = drops;

    k->host_call = take_call;
    k->host_arg = &c;
    CHECK_EQ(SYS(t, NR_host_command, world_str(t, IN, "input"), 5, FDS),
             -EWAIT);
    kernel_free(k);
    CHECK_EQ(drops, before + 1);
}
