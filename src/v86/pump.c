/* The process of one machine: runs it, and moves bytes between the agent's port
 * and the socket.
 *
 * The process sleeps when the guest is idle, until its next timer or the next
 * byte from the server. The last lines of the guest's console are kept: if the
 * guest does not boot or dies, they are the reason that the user sees. */
#include "v86/pump.h"

#include "base/hfd.h"
#include "base/os_time.h"
#include "v86/boot.h"
#include "v86/image/agent.h"
#include "v86/jit.h"
#include "wire/log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Shorter pauses are not worth a system call. */
static const double PUMP_IDLE_MS_MIN = 0.02;

enum { PUMP_TABLE_BLOCKS = 256 };

/* The console's output as one line of printable characters, from the last
 * bytes. */
static void
pump_keep_console(void *self, uint8_t byte)
{
    struct pump *p = self;

    if (byte == '\r')
        return;
    if (p->console_len == sizeof p->console) {
        p->console_len /= 2;
        memmove(p->console, p->console + p->console_len, p->console_len);
    }
    bool is_plain = (byte >= ' ' && byte < 0x7f) || byte == '\n';
    p->console[p->console_len++] = is_plain ? (char)byte : '?';
}

static uint32_t
pump_keep_output(void *self, const uint8_t *from, uint32_t len)
{
    struct pump *p = self;
    size_t room = sizeof p->out - p->out_len;
    uint32_t n = len < room ? len : (uint32_t)room;

    memcpy(p->out + p->out_len, from, n);
    p->out_len += n;
    return n;
}

static void
pump_describe(const struct pump *p, const char *why,
              char error[PUMP_ERROR_BYTES])
{
    (void)snprintf(error, PUMP_ERROR_BYTES, "%.300s%s%.*s", why,
                   p->console_len ? "; last lines of its console:\n" : "",
                   (int)p->console_len, p->console);
}

/* The reason why machine_run has failed. */
static void
pump_describe_end(const struct pump *p, int r, char error[PUMP_ERROR_BYTES])
{
    char why[300];

    if (r == -ESHUTDOWN)
        (void)snprintf(why, sizeof why, "the guest has switched itself off");
    else
        (void)snprintf(why, sizeof why, "the emulated processor has failed: %s",
                       machine_error(p->machine));
    pump_describe(p, why, error);
}

static void
pump_sleep(double ms)
{
    struct timespec t = time_spec((int64_t)(ms * NS_PER_MS));

    (void)nanosleep(&t, NULL);
}

/* Runs until the first message of the agent. */
static int
pump_wait_for_agent(struct pump *p, int64_t timeout_ms,
                    char error[PUMP_ERROR_BYTES])
{
    int64_t deadline = time_mono_ns() + timeout_ms * NS_PER_MS;
    size_t ready = sizeof(struct agent_head) + sizeof(int32_t);
    char why[128];

    while (p->out_len < ready) {
        double idle_ms = 0;
        int r = machine_run(p->machine, &idle_ms);

        if (r < 0) {
            pump_describe_end(p, r, error);
            return r;
        }
        if (time_mono_ns() > deadline) {
            (void)snprintf(why, sizeof why,
                           "the guest has not booted within %lld ms",
                           (long long)timeout_ms);
            pump_describe(p, why, error);
            return -ETIMEDOUT;
        }
        if (idle_ms > PUMP_IDLE_MS_MIN)
            pump_sleep(idle_ms);
    }
    p->out_len = 0;
    return 0;
}

/* Returns the number of blocks that files of the guest may use. The rest is for
 * the tables of the file system, which are in the overlay, too. */
static uint64_t
pump_file_blocks(const struct disk *d)
{
    uint64_t blocks = disk_free_bytes(d) / DISK_BLOCK_BYTES;
    uint64_t own = PUMP_TABLE_BLOCKS +
                   disk_sectors(d) * DISK_SECTOR_BYTES / DISK_BLOCK_BYTES / 64;

    return blocks > own ? blocks - own : 0;
}

/* Loads the kernel. The texts follow the name of the image. */
static int
pump_load(struct pump *p, char error[PUMP_ERROR_BYTES])
{
    struct boot_header h;
    char more[64];
    const char *why = "its kernel cannot be read";
    int r = boot_find(p->disk, &h);

    if (r == -ENOENT) {
        pump_describe(p,
                      "it is not an image of tools/v86-image; others cannot be "
                      "booted yet",
                      error);
        return r;
    }
    (void)snprintf(more, sizeof more, "wasmsand.disk_blocks=%llu",
                   (unsigned long long)pump_file_blocks(p->disk));
    if (r == 0)
        r = boot_load(p->disk, &h, machine_bus(p->machine), more);
    if (r == -ENOEXEC)
        why = "its kernel is damaged";
    else if (r == -E2BIG)
        why = "its kernel does not fit into the memory";
    if (r < 0)
        pump_describe(p, why, error);
    return r;
}

int
pump_boot(struct pump *p, OWN struct disk *disk, const struct pump_options *o,
          char error[PUMP_ERROR_BYTES])
{
    struct machine_options m = {.ram_bytes = o->ram_bytes,
                                .disk = disk,
                                .self = p,
                                .serial = pump_keep_console,
                                .agent = pump_keep_output};

    p->hfd = -1;
    p->disk = disk;
    int r = machine_new(&m, &p->machine);
    if (r == 0 && o->has_jit)
        r = jit_new(machine_core(p->machine), &p->jit);
    if (r < 0 && r != -ENOTSUP) {
        pump_describe(p, strerror(-r), error);
        return r;
    }
    r = pump_load(p, error);
    if (r == 0)
        r = pump_wait_for_agent(p, o->boot_timeout_ms, error);
    machine_stop_clock(p->machine);
    return r;
}

/* --- serving */

/* Removes bytes from the beginning of a buffer. */
static void
pump_shift(uint8_t *buf, size_t *len, size_t n)
{
    *len -= n;
    memmove(buf, buf + n, *len);
}

/* The other end was closed, or its process has ended: nobody needs this
 * machine. */
static void
pump_check(ssize_t n)
{
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        _exit(0);
}

static void
pump_receive(struct pump *p, int hfd)
{
    size_t room = sizeof p->in - p->in_len;

    if (room) {
        ssize_t n = recv(hfd, p->in + p->in_len, room, MSG_DONTWAIT);
        pump_check(n);
        p->in_len += n > 0 ? (size_t)n : 0;
    }
    if (p->in_len)
        pump_shift(p->in, &p->in_len,
                   machine_agent_input(p->machine, p->in, p->in_len));
}

static void
pump_send(struct pump *p, int hfd)
{
    if (!p->out_len)
        return;

    ssize_t n = send(hfd, p->out, p->out_len, MSG_DONTWAIT | MSG_NOSIGNAL);
    pump_check(n ? n : 1);
    if (n > 0) {
        pump_shift(p->out, &p->out_len, (size_t)n);
        machine_agent_resume(p->machine);
    }
}

/* Waits while the guest is idle. Returns true if the control socket is readable
 * and no byte is on its way. */
static bool
pump_wait(const struct pump *p, int hfd, int control, double idle_ms)
{
    short out = p->out_len ? POLLOUT : 0;
    struct pollfd fds[] = {{.fd = hfd, .events = (short)(POLLIN | out)},
                           {.fd = control, .events = POLLIN}};
    struct timespec t = time_spec((int64_t)(idle_ms * NS_PER_MS));

    (void)ppoll(fds, 2, &t, NULL);
    return fds[1].revents && !fds[0].revents && !p->out_len && !p->in_len;
}

/* The last message; output of the agent before it may be cut. */
__attribute__((noreturn)) static void
pump_die(struct pump *p, int hfd, int r)
{
    char error[PUMP_ERROR_BYTES];

    pump_describe_end(p, r, error);
    struct agent_head head = {AGENT_DIED, (uint32_t)strlen(error)};
    (void)hfd_write_all(hfd, p->out, p->out_len);
    (void)hfd_write_all(hfd, &head, sizeof head);
    (void)hfd_write_all(hfd, error, head.len);
    _exit(0);
}

/* Without this line, a machine that has become slow would have no known
 * cause. */
static void
pump_report_refusal(struct pump *p)
{
    if (!p->jit || p->has_reported || !jit_refusal(p->jit))
        return;
    p->has_reported = true;
    text_logf("v86: the compiler has refused code of the guest, which is "
              "interpreted from now on: %s",
              jit_refusal(p->jit));
}

void
pump_detach(struct pump *p)
{
    if (p->hfd < 0)
        return;
    hfd_closep(&p->hfd);
    machine_stop_clock(p->machine);
}

void
pump_serve(struct pump *p, int hfd, int control,
           void (*on_control)(struct pump *p, int control))
{
    p->hfd = hfd;
    machine_start_clock(p->machine);
    for (;;) {
        double idle_ms = 0;

        pump_receive(p, hfd);
        int r = machine_run(p->machine, &idle_ms);
        if (r < 0)
            pump_die(p, hfd, r);
        pump_send(p, hfd);
        pump_report_refusal(p);
        if (idle_ms < PUMP_IDLE_MS_MIN)
            idle_ms = 0;
        if (pump_wait(p, hfd, control, idle_ms))
            on_control(p, control);
    }
}
