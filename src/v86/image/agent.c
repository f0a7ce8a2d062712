/* The agent: process 1 of the guest. It runs commands in a shell that stays
 * between them, and reads and writes files, for the host (agent.h).
 *
 * The shell is a loop: it waits for a line on descriptor 3, reads the script
 * SCRIPT into itself, and writes the status to descriptor 4. A pipe keeps the
 * order of events, so all output of the script is in the pipes of the agent
 * when the status is. A shell that ends, by `exit` or a signal, is replaced by
 * one with the same folder. */
#include "v86/image/agent.h"

#include "v86/image/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/random.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SCRIPT "/run/wasmsand/script"
/* The pipe for the standard input of a run, as the shell opens it. Its number
 * is above those of all other descriptors. */
#define STDIN "/proc/1/fd/60"

static const char shell_loop[] =
    "while IFS= read -r REPLY <&3; do"
    " . " SCRIPT " <$REPLY 3<&- 4>&-; echo $? >&4; done";

static const char *const shell_env[] = {
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root",
    "USER=root",
    "SHELL=/bin/sh",
    "TERM=dumb",
    "LANG=C.UTF-8",
    NULL,
};

enum { END_READ, END_WRITE };
enum { STDIN_FD = 60 }; /* of STDIN */

struct agent {
    int port, signals;
    /* of the shell; 0: none runs */
    pid_t shell;
    pid_t group; /* of the last shell */
    int command[2], status[2], out[2], err[2];
    char cwd[4096];
    /* of the run */
    bool is_running;
    pid_t killed; /* the process group that was killed; 0: none */
    /* The pipe to the run; both ends are -1 without one. The agent keeps the
     * read end, so that bytes and their end wait for a shell that opens it
     * later. */
    int input[2];
    uint32_t input_at; /* bytes of `data` that were passed */
    uint32_t input_len;
    uint8_t data[AGENT_DATA_MAX];
};

/* --- messages --- */

/* The port is the only way out: without it there is nothing left to do. */
__attribute__((noreturn)) static void
die(const char *why)
{
    const char *const text[] = {"agent: ", why, ": ", strerror(errno), "\n"};

    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        (void)!write(2, text[i], strlen(text[i]));
    for (;;)
        pause();
}

static void
port_write(struct agent *a, const void *p, size_t len)
{
    const char *at = p;

    while (len) {
        ssize_t n = write(a->port, at, len);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            die("port");
        if (n > 0) {
            at += n;
            len -= (size_t)n;
        }
    }
}

/* One write for head and data, because each write is a request to the
 * device. */
void
port_send(struct agent *a, uint32_t type, const void *p, uint32_t len)
{
    static uint8_t buf[sizeof(struct agent_head) + AGENT_DATA_MAX];
    struct agent_head head = {type, len};

    memcpy(buf, &head, sizeof head);
    if (len)
        memcpy(buf + sizeof head, p, len);
    port_write(a, buf, sizeof head + len);
}

static void
port_send_last(struct agent *a, uint32_t type, int32_t value)
{
    struct sysinfo info = {0};

    (void)sysinfo(&info);
    uint32_t message[] = {(uint32_t)value,
                          (uint32_t)(info.totalram - info.freeram) / 1024 *
                              info.mem_unit};
    port_send(a, type, message, sizeof message);
}

void
port_result(struct agent *a, int error)
{
    port_send_last(a, AGENT_RESULT, error);
}

static void
port_read(struct agent *a, void *p, size_t len)
{
    char *at = p;

    while (len) {
        ssize_t n = read(a->port, at, len);
        if (n < 0 && errno != EINTR)
            die("port");
        if (n == 0)
            (void)poll(&(struct pollfd){.fd = a->port, .events = POLLIN}, 1,
                       -1);
        if (n > 0) {
            at += n;
            len -= (size_t)n;
        }
    }
}

/* --- the shell --- */

static void
make_pipe(int fd[2])
{
    if (pipe2(fd, O_CLOEXEC) < 0)
        die("pipe");
}

/* The read ends of the agent do not block. */
static void
make_output_pipe(int fd[2])
{
    make_pipe(fd);
    (void)fcntl(fd[END_READ], F_SETFL, O_NONBLOCK);
    (void)fcntl(fd[END_READ], F_SETPIPE_SZ, 256 << 10);
}

static void
shell_exec(const struct agent *a)
{
    char *argv[] = {"sh", "-c", (char *)shell_loop, "sh", NULL};
    int null = open("/dev/null", O_RDWR);
    sigset_t none;

    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    if (chdir(a->cwd) < 0)
        (void)!chdir("/");
    (void)dup2(null, 0);
    (void)dup2(a->out[END_WRITE], 1);
    (void)dup2(a->err[END_WRITE], 2);
    (void)dup2(a->command[END_READ], 3);
    (void)dup2(a->status[END_WRITE], 4);
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    (void)!write(score, "0", 1);
    (void)execve("/bin/sh", argv, (char **)shell_env);
    _exit(127);
}

/* If there is no memory or no process left for a shell, the processes of the
 * last one have used all of it, like a fork bomb does. They are ended. */
static void
shell_start(struct agent *a)
{
    pid_t pid;

    while ((pid = vfork()) < 0 && a->group) {
        (void)kill(-a->group, SIGKILL);
        if (waitpid(-1, NULL, 0) < 0)
            break;
    }
    if (pid == 0)
        shell_exec(a);
    a->shell = pid > 0 ? pid : 0;
    if (a->shell)
        a->group = a->shell;
}

/* Writes the number by hand: musl's printf needs a library for 64-bit
 * divisions, which the compiler of the host does not have for i386. */
static void
shell_remember_cwd(struct agent *a)
{
    char link[] = "/proc/0000000000/cwd";
    char *digit = strrchr(link, '/');

    for (pid_t pid = a->shell; pid; pid /= 10)
        *--digit = (char)('0' + pid % 10);
    digit -= strlen("/proc/");
    memmove(digit, "/proc/", strlen("/proc/"));

    ssize_t n = readlink(digit, a->cwd, sizeof a->cwd - 1);
    if (n > 0)
        a->cwd[n] = 0;
    (void)!chdir(a->cwd); /* for relative paths of files */
}

static bool
write_script(const char *p, uint32_t len)
{
    int fd = open(SCRIPT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0)
        return false;
    bool ok = write(fd, p, len) == (ssize_t)len && write(fd, "\n", 1) == 1;
    close(fd);
    return ok;
}

/* --- runs --- */

static void
close_end(int fd[2], int end)
{
    if (fd[end] >= 0)
        close(fd[end]);
    fd[end] = -1;
}

static void
run_end_input(struct agent *a)
{
    close_end(a->input, END_WRITE);
    a->input_len = a->input_at = 0;
}

static void
run_start_input(struct agent *a)
{
    int fd[2];

    make_pipe(fd);
    (void)fcntl(fd[END_WRITE], F_SETFL, O_NONBLOCK);
    (void)dup3(fd[END_READ], STDIN_FD, O_CLOEXEC);
    close(fd[END_READ]);
    a->input[END_READ] = STDIN_FD;
    a->input[END_WRITE] = fd[END_WRITE];
}

static bool
pass_output(struct agent *a, int fd, uint32_t type)
{
    static uint8_t buf[AGENT_DATA_MAX];
    ssize_t n = read(fd, buf, sizeof buf);

    if (n > 0)
        port_send(a, type, buf, (uint32_t)n);
    return n > 0;
}

static void
drain_output(struct agent *a)
{
    while (pass_output(a, a->out[END_READ], AGENT_STDOUT))
        continue;
    while (pass_output(a, a->err[END_READ], AGENT_STDERR))
        continue;
}

static void
run_end(struct agent *a, int32_t status)
{
    run_end_input(a);
    close_end(a->input, END_READ);
    drain_output(a);
    a->is_running = false;
    port_send_last(a, AGENT_EXIT, status);
}

static void
run_start(struct agent *a, const uint8_t *p, uint32_t len)
{
    uint32_t flags = 0;

    if (!a->shell)
        shell_start(a);
    if (len >= sizeof flags)
        memcpy(&flags, p, sizeof flags);
    if (!a->shell || len < sizeof flags ||
        !write_script((const char *)p + sizeof flags, len - sizeof flags)) {
        run_end(a, 126);
        return;
    }
    bool has_stdin = flags & AGENT_RUN_STDIN;
    if (has_stdin)
        run_start_input(a);
    a->is_running = true;
    const char *from = has_stdin ? STDIN "\n" : "/dev/null\n";
    (void)!write(a->command[END_WRITE], from, strlen(from));
    if (has_stdin)
        port_send(a, AGENT_WANTS_STDIN, NULL, 0);
}

/* The shell reports the status of a script in decimal. */
static void
run_finish(struct agent *a)
{
    char line[32];
    ssize_t n = read(a->status[END_READ], line, sizeof line - 1);

    if (n <= 0 || !a->is_running || a->killed)
        return;
    line[n] = 0;
    shell_remember_cwd(a);
    run_end(a, atoi(line));
}

static void
pass_input(struct agent *a)
{
    ssize_t n = write(a->input[END_WRITE], a->data + a->input_at,
                      a->input_len - a->input_at);

    if (n > 0)
        a->input_at += (uint32_t)n;
    if (a->input_at < a->input_len)
        return;
    a->input_at = a->input_len = 0;
    port_send(a, AGENT_WANTS_STDIN, NULL, 0);
}

static void
take_input(struct agent *a, const uint8_t *p, uint32_t len)
{
    if (a->input[END_WRITE] < 0)
        return;
    if (len == 0) {
        run_end_input(a);
        return;
    }
    memcpy(a->data, p, len);
    a->input_len = len;
    a->input_at = 0;
    pass_input(a);
}

/* The shell leads a session of its own. Processes that have left it go on. */
static void
run_kill(struct agent *a)
{
    if (!a->is_running || !a->shell)
        return;
    a->killed = a->shell;
    (void)kill(-a->killed, SIGKILL);
}

/* A killed run ends when the last process of its group has: before that, there
 * may be no memory for the next one. */
static void
run_check_killed(struct agent *a)
{
    if (!a->killed || kill(-a->killed, 0) == 0)
        return;
    a->killed = 0;
    if (a->is_running)
        run_end(a, 128 + SIGKILL);
}

static void
reap(struct agent *a)
{
    struct signalfd_siginfo info;
    siginfo_t child;

    (void)!read(a->signals, &info, sizeof info);
    for (;;) {
        child.si_pid = 0;
        if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0 ||
            child.si_pid == 0)
            break;
        if (child.si_pid == a->shell) {
            a->shell = 0;
            if (a->is_running && !a->killed)
                run_end(a, child.si_code == CLD_EXITED ? child.si_status
                                                       : 128 + child.si_status);
        }
        (void)waitpid(child.si_pid, NULL, 0);
    }
    run_check_killed(a);
}

/* --- requests --- */

/* A copied machine must not have the random numbers of its original, and not
 * the time at which the original was stopped. */
static void
hello(struct agent *a, const uint8_t *p, uint32_t len)
{
    struct agent_hello h;
    struct {
        int entropy_count, buf_size;
        uint8_t buf[AGENT_SEED_BYTES];
    } seed = {.entropy_count = 8 * AGENT_SEED_BYTES,
              .buf_size = AGENT_SEED_BYTES};

    if (len != sizeof h) {
        port_result(a, EINVAL);
        return;
    }
    memcpy(&h, p, sizeof h);
    struct timespec now = {.tv_sec = h.wall_s, .tv_nsec = h.wall_ns};
    (void)clock_settime(CLOCK_REALTIME, &now);
    memcpy(seed.buf, h.seed, sizeof seed.buf);
    int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
    (void)ioctl(fd, RNDADDENTROPY, &seed);
    (void)ioctl(fd, RNDRESEEDCRNG, 0);
    close(fd);
    port_result(a, 0);
}

static void
start_terminal(struct agent *a)
{
    char *argv[] = {"setsid", "cttyhack", "sh", "-l", NULL};
    sigset_t none;
    pid_t pid = fork();

    if (pid == 0) {
        int tty = open("/dev/ttyS0", O_RDWR);

        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        for (int fd = 0; fd <= 2; fd++)
            (void)dup2(tty, fd);
        (void)!chdir("/root");
        (void)execve("/usr/bin/setsid", argv, (char **)shell_env);
        _exit(127);
    }
    port_result(a, pid < 0 ? errno : 0);
}

/* Returns 0 or an errno. */
static int
root_ioctl(unsigned long request)
{
    int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = ioctl(fd, (int)request, 0);
    int error = r < 0 ? errno : 0;

    close(fd);
    return error;
}

static void
serve(struct agent *a, uint32_t type, uint8_t *p, uint32_t len)
{
    switch (type) {
    case AGENT_HELLO:
        hello(a, p, len);
        break;
    case AGENT_RUN:
        run_start(a, p, len);
        break;
    case AGENT_STDIN:
        take_input(a, p, len);
        break;
    case AGENT_KILL:
        run_kill(a);
        break;
    case AGENT_SYNC:
        sync();
        port_result(a, 0);
        break;
    case AGENT_FREEZE:
        port_result(a, root_ioctl(FIFREEZE));
        break;
    case AGENT_THAW:
        port_result(a, root_ioctl(FITHAW));
        break;
    case AGENT_TERMINAL:
        start_terminal(a);
        break;
    default:
        if (!files_serve(a, type, p, len))
            port_result(a, ENOSYS);
    }
}

/* A script may be larger than other messages. */
static void
serve_next(struct agent *a)
{
    static uint8_t buf[AGENT_DATA_MAX + 1];
    struct agent_head head;

    port_read(a, &head, sizeof head);

    uint8_t *p = head.len < sizeof buf ? buf : malloc((size_t)head.len + 1);
    if (!p)
        die("message");
    port_read(a, p, head.len);
    p[head.len] = 0;
    serve(a, head.type, p, head.len);
    if (p != buf)
        free(p);
}

static void
serve_for_ever(struct agent *a)
{
    enum { PORT, SIGNALS, STATUS, OUT, ERR, INPUT, N };

    for (;;) {
        struct pollfd fds[N] = {
            [PORT] = {.fd = a->port, .events = POLLIN},
            [SIGNALS] = {.fd = a->signals, .events = POLLIN},
            [STATUS] = {.fd = a->status[END_READ], .events = POLLIN},
            [OUT] = {.fd = a->out[END_READ], .events = POLLIN},
            [ERR] = {.fd = a->err[END_READ], .events = POLLIN},
            [INPUT] = {.fd = a->input_len ? a->input[END_WRITE] : -1,
                       .events = POLLOUT},
        };

        (void)poll(fds, N, -1);
        if (fds[PORT].revents & POLLIN)
            serve_next(a);
        if (fds[OUT].revents)
            (void)pass_output(a, a->out[END_READ], AGENT_STDOUT);
        if (fds[ERR].revents)
            (void)pass_output(a, a->err[END_READ], AGENT_STDERR);
        if (fds[INPUT].revents & POLLOUT && a->input_len)
            pass_input(a);
        if (fds[STATUS].revents)
            run_finish(a);
        if (fds[SIGNALS].revents)
            reap(a);
    }
}

/* The port appears when the device has announced it. */
static int
open_port(void)
{
    int fd;

    while ((fd = open("/dev/vport0p1", O_RDWR | O_CLOEXEC)) < 0)
        (void)usleep(1000);
    return fd;
}

int
main(void)
{
    static struct agent a = {.cwd = "/root", .input = {-1, -1}};
    sigset_t set;

    (void)!chdir(a.cwd);
    (void)mkdir("/run/wasmsand", 0700);
    int score = open("/proc/self/oom_score_adj", O_WRONLY);
    (void)!write(score, "-1000", 5);
    close(score);

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    a.signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    make_pipe(a.command);
    make_output_pipe(a.status);
    make_output_pipe(a.out);
    make_output_pipe(a.err);
    a.port = open_port();
    shell_start(&a);
    port_result(&a, 0);
    serve_for_ever(&a);
}
