/* post: fork */
/* One thing after the other that a program can do, for test_exec.py. */
#include "guest.h"

static int
cmd_exit(int argc, char **argv)
{
    return argc > 1 ? atoi(argv[1]) : 0;
}

static int
cmd_signal(int argc, char **argv)
{
    (void)argc;
    return raise(atoi(argv[1]));
}

static int
cmd_cat(int argc, char **argv)
{
    static char buf[1 << 16];
    ssize_t n;

    (void)argc;
    (void)argv;
    while ((n = read(0, buf, sizeof buf)) > 0)
        for (ssize_t done = 0; done < n;) {
            ssize_t w = write(1, buf + done, n - done);
            if (w < 0)
                return 3;
            done += w;
        }
    return n < 0 ? 4 : 0;
}

/* Each argument in hexadecimal, so that any byte can be seen. */
static int
cmd_args(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        for (const char *p = argv[i]; *p; p++)
            printf("%02x", (unsigned char)*p);
        printf("\n");
    }
    return 0;
}

static int
cmd_arg_sum(int argc, char **argv)
{
    size_t bytes = 0;

    for (int i = 1; i < argc; i++)
        bytes += strlen(argv[i]);
    printf("%d %zu\n", argc - 1, bytes);
    return 0;
}

static int
cmd_env(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (char **e = environ; *e; e++)
        puts(*e);
    return 0;
}

static int
cmd_cwd(int argc, char **argv)
{
    char buf[4096];

    (void)argc;
    (void)argv;
    puts(getcwd(buf, sizeof buf) ? buf : "none");
    return 0;
}

/* Lines to both streams in turn. */
static int
cmd_interleave(int argc, char **argv)
{
    (void)argc;
    for (int i = 0; i < atoi(argv[1]); i++)
        dprintf(i % 2 ? 2 : 1, "%d\n", i);
    return 0;
}

static int
cmd_read_file(int argc, char **argv)
{
    int fd = open(argv[1], O_RDONLY);

    (void)argc;
    if (fd < 0) {
        printf("%s\n", strerrorname(errno));
        return 1;
    }
    dup2(fd, 0);
    return cmd_cat(0, NULL);
}

static int
cmd_write_file(int argc, char **argv)
{
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);

    (void)argc;
    if (fd < 0 || write(fd, argv[2], strlen(argv[2])) < 0) {
        printf("%s\n", strerrorname(errno));
        return 1;
    }
    return 0;
}

static volatile sig_atomic_t caught;

static void
on_signal(int sig)
{
    caught = sig;
}

/* Says "ready", then the signal that came. */
static int
cmd_await_signal(int argc, char **argv)
{
    static const int sigs[] = {SIGINT,  SIGTERM, SIGHUP,  SIGUSR1,
                               SIGUSR2, SIGQUIT, SIGWINCH};
    struct sigaction sa = {.sa_handler = on_signal};
    sigset_t set, old;

    (void)argc;
    (void)argv;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++) {
        sigaction(sigs[i], &sa, NULL);
        sigaddset(&set, sigs[i]);
    }
    sigprocmask(SIG_BLOCK, &set, &old);
    dprintf(1, "ready\n");
    sigsuspend(&old);
    dprintf(1, "signal %d\n", (int)caught);
    return 0;
}

static int
cmd_ready_then_wait(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    dprintf(1, "ready\n");
    for (;;)
        pause();
}

static int
cmd_ready_then_spin(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    dprintf(1, "ready\n");
    for (volatile int i = 0;; i++)
        ;
}

/* A daemon in a session of its own stays when its starter ends. */
static int
cmd_daemon(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < 3; i++)
        if (!fork()) {
            setsid();
            if (fork())
                _exit(0);
            signal(SIGHUP, SIG_IGN);
            signal(SIGTERM, SIG_IGN);
            for (volatile int j = 0;; j++)
                if (i == 0)
                    pause();
        }
    while (wait(NULL) > 0)
        ;
    dprintf(1, "started\n");
    return 0;
}

static int
cmd_winsize(int argc, char **argv)
{
    struct winsize ws = {0};
    int r = ioctl(0, TIOCGWINSZ, &ws);

    (void)argc;
    (void)argv;
    printf("%d %d %d\n", r, ws.ws_row, ws.ws_col);
    return 0;
}

/* Reads lines until the end, and answers each with its length. */
static int
cmd_lines(int argc, char **argv)
{
    char line[256];

    (void)argc;
    (void)argv;
    dprintf(1, "isatty %d %d %d\n", isatty(0), isatty(1), isatty(2));
    while (fgets(line, sizeof line, stdin))
        dprintf(1, "got %zu\n", strcspn(line, "\n"));
    dprintf(1, "end\n");
    return 0;
}

/* Raw mode, one key, and no restoring of the mode. */
static int
cmd_raw_key(int argc, char **argv)
{
    struct termios t;
    char c = 0;

    (void)argc;
    (void)argv;
    tcgetattr(0, &t);
    cfmakeraw(&t);
    tcsetattr(0, TCSANOW, &t);
    dprintf(1, "ready\r\n");
    (void)!read(0, &c, 1);
    dprintf(1, "key %d\r\n", c);
    return 0;
}

static int
cmd_touch_many(int argc, char **argv)
{
    char name[64];
    int n = 0;

    (void)argc;
    (void)argv;
    CHECK(mkdir(BOMB, 0700) == 0);
    for (;; n++) {
        snprintf(name, sizeof name, BOMB "/%d", n);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (fd < 0)
            break;
        close(fd);
    }
    printf("%d %s\n", n, strerrorname(errno));
    return 0;
}

static int
cmd_fill_file(int argc, char **argv)
{
    static char buf[4096];
    long long total = 0;
    int fd = open("/tmp/big", O_CREAT | O_WRONLY, 0600);

    (void)argc;
    (void)argv;
    for (;;) {
        ssize_t n = write(fd, buf, sizeof buf);
        if (n < 0)
            break;
        total += n;
    }
    printf("%lld %s\n", total, strerrorname(errno));
    return 0;
}

static int
cmd_grow_memory(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    while (__builtin_wasm_memory_grow(0, 16) != (size_t)-1)
        ;
    printf("%zu\n", __builtin_wasm_memory_size(0) >> 4);
    return 0;
}

static int
cmd_fork_count(int argc, char **argv)
{
    int n = 0, p[2];
    char c;

    (void)argc;
    (void)argv;
    CHECK(pipe(p) == 0);
    for (;; n++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (!pid) {
            close(p[1]);
            (void)!read(p[0], &c, 1);
            _exit(0);
        }
    }
    printf("%d %s\n", n, strerrorname(errno));
    return 0;
}

static int
cmd_exec_file(int argc, char **argv)
{
    (void)argc;
    execve(argv[1], argv + 1, environ);
    printf("%s\n", strerrorname(errno));
    return 1;
}

static int
cmd_exec_name(int argc, char **argv)
{
    (void)argc;
    execvp(argv[1], argv + 1);
    printf("%s\n", strerrorname(errno));
    return 1;
}

static int
cmd_stdin_kind(int argc, char **argv)
{
    char c;
    ssize_t n = read(0, &c, 1);

    (void)argc;
    (void)argv;
    printf("read %zd %s\n", n, n < 0 ? strerrorname(errno) : "0");
    return 0;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"exit", cmd_exit},
    {"signal", cmd_signal},
    {"cat", cmd_cat},
    {"args", cmd_args},
    {"arg-sum", cmd_arg_sum},
    {"env", cmd_env},
    {"cwd", cmd_cwd},
    {"interleave", cmd_interleave},
    {"read-file", cmd_read_file},
    {"write-file", cmd_write_file},
    {"await-signal", cmd_await_signal},
    {"ready-then-wait", cmd_ready_then_wait},
    {"ready-then-spin", cmd_ready_then_spin},
    {"daemon", cmd_daemon},
    {"winsize", cmd_winsize},
    {"lines", cmd_lines},
    {"raw-key", cmd_raw_key},
    {"touch-many", cmd_touch_many},
    {"fill-file", cmd_fill_file},
    {"grow-memory", cmd_grow_memory},
    {"fork-count", cmd_fork_count},
    {"exec-file", cmd_exec_file},
    {"exec-name", cmd_exec_name},
    {"stdin-kind", cmd_stdin_kind},
};

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "no such command\n");
    return 2;
}
