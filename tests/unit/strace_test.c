/* strace output: one line for each call. */
#include "kernel/strace.h"

#include "world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text_sink {
    struct host_sink sink;
    char *text;
    size_t len, size;
};

static void
text_sink_put(struct host_sink *s, const char *text, size_t len)
{
    struct text_sink *t = (struct text_sink *)s;

    CHECK(len < t->size - t->len);
    memcpy(t->text + t->len, text, len);
    t->len += len;
    t->text[t->len] = 0;
}

/* The output of a call, without the newline. */
static char *
trace(struct task *t, uint32_t nr, const uint32_t a[6], char *buf, size_t size)
{
    struct text_sink out = {.sink = {text_sink_put}, .text = buf, .size = size};

    buf[0] = 0;
    t->kernel->strace = &out.sink;
    (void)world_call(t, nr, a);
    t->kernel->strace = NULL;
    size_t len = strlen(buf);
    CHECK(len && buf[len - 1] == '\n' && !memchr(buf, '\n', len - 1));
    buf[len - 1] = 0;
    return buf;
}

#define CHECK_TRACE(t, want, nr, ...)                              \
    do {                                                           \
        char buf_[512];                                            \
        trace(t, nr, (const uint32_t[6]){__VA_ARGS__}, buf_, 512); \
        if (strcmp(buf_, want) != 0)                               \
            test_failed(__FILE__, __LINE__, buf_);                 \
    } while (0)

TEST(strace_prints_arguments_by_their_kind)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    world_str(t, 256, "/a\"\n\\b");
    CHECK_TRACE(t, "[2] getpid() = 2", NR_getpid, 0);
    CHECK_TRACE(t,
                "[2] openat(-100, \"/a\\\"\\x0a\\\\b\", 0x0, 0x0) = -1 ENOENT",
                NR_openat, (uint32_t)AT_FDCWD, 256, 0, 0);
    CHECK_TRACE(t, "[2] openat(-100, 0xffffffff, 0x40, 0x1b6) = -1 EFAULT",
                NR_openat, (uint32_t)AT_FDCWD, UINT32_MAX, 0x40, 0666);
    CHECK_TRACE(t, "[2] read(-1, NULL, 7) = -1 EBADF", NR_read, (uint32_t)-1, 0,
                7);
    CHECK_TRACE(t, "[2] pread64(3, 0x10, 7, -2) = -1 EINVAL", NR_pread64, 3, 16,
                7, 0xfffffffe, UINT32_MAX);
    kernel_free(k);
}

TEST(strace_cuts_long_strings)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    char want[200] = "[2] chdir(\"";

    memset(world_at(t, 256), 'a', 300);
    memset(want + strlen(want), 'a', 64);
    strcat(want, "\"...) = -1 ENAMETOOLONG");
    CHECK_TRACE(t, want, NR_chdir, 256);
    kernel_free(k);
}

TEST(strace_shows_waits_and_unknown_calls)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_TRACE(t, "[2] pipe2(0x100, 0x0) = 0", NR_pipe2, 256, 0);
    CHECK_TRACE(t, "[2] read(0, 0x100, 1) = ? (waits)", NR_read, 0, 256, 1);
    CHECK_TRACE(t, "[2] syscall_999(0x1, 0x2, 0x3) = -1 ENOSYS", 999, 1, 2, 3);
    CHECK_TRACE(t, "[2] syscall_4294967295(0x0, 0x0, 0x0) = -1 ENOSYS",
                UINT32_MAX, 0);
    kernel_free(k);
}

TEST(strace_knows_the_names_that_the_host_knows)
{
    for (int e = 0; e < 200; e++) {
        const char *ours = strace_errno_name(e), *hosts = strerrorname_np(e);
        if (e)
            CHECK(ours && hosts ? !strcmp(ours, hosts) : ours == hosts);
    }
    CHECK(!strace_errno_name(0) && !strace_errno_name(-1));
}
