/* A program of attacks.
 *
 * `PROGRAM NAME` makes the attack in a child and kills what is left of it. Then
 * it shows that the sandbox still works: a file, a pipe, a child, and at the
 * end the line "usable". `PROGRAM alone NAME` is the attack without this frame.
 *
 * An attack that never ends reports with reached() that it has what it is after
 * (a limit, a number of rounds). An attack that ends exits with status 0 if
 * everything was refused as it should be. */
#ifndef ATTACK_H
#define ATTACK_H

#include "guest.h"

enum { PATIENCE_MS = 60000, REPORT_FD = 900 };

struct attack {
    const char *name;
    void (*run)(void);
};

static const struct attack attacks[];

/* The attack has what it wanted, and goes on. */
UNUSED static void
reached(void)
{
    (void)!write(REPORT_FD, "r", 1);
}

/* --- is the sandbox usable? */

/* Removes a tree of any depth without holding a path or recursing. */
static void
remove_tree(const char *path)
{
    struct stat st;
    DIR *d;

    if (lstat(path, &st) < 0)
        return;
    if (!S_ISDIR(st.st_mode)) {
        CHECK(unlink(path) == 0);
        return;
    }
    CHECK(chdir(path) == 0);
    for (long depth = 1; depth > 0;) {
        bool went_down = false;
        (void)chmod(".", 0700);
        d = opendir(".");
        CHECK(d != NULL);
        for (struct dirent *e; !went_down && (e = readdir(d));) {
            if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
                continue;
            if (!unlink(e->d_name) || !rmdir(e->d_name))
                continue;
            (void)chmod(e->d_name, 0700);
            went_down = !chdir(e->d_name);
        }
        closedir(d);
        if (went_down) {
            depth++;
            continue;
        }
        CHECK(chdir("..") == 0);
        depth--;
    }
    CHECK(chdir("/tmp") == 0);
    CHECK(rmdir(path) == 0);
}

static void
check_file(void)
{
    char back[8] = "";
    int fd = open("/tmp/check", O_RDWR | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0);
    CHECK(write(fd, "written", 8) == 8);
    CHECK(pread(fd, back, 8, 0) == 8 && !strcmp(back, "written"));
    CHECK(close(fd) == 0);
    CHECK(unlink("/tmp/check") == 0);
}

static void
check_child(void)
{
    char *const argv[] = {"attack", "exit", NULL};
    int status;
    pid_t pid;

    CHECK(posix_spawn(&pid, SELF, NULL, NULL, argv, environ) == 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    pid = fork();
    CHECK(pid >= 0);
    if (!pid)
        _exit(8);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8);
}

static void
check_pipe(void)
{
    char c = 0;
    int p[2];

    CHECK(pipe(p) == 0);
    CHECK(write(p[1], "x", 1) == 1);
    CHECK(read(p[0], &c, 1) == 1 && c == 'x');
    close(p[0]);
    close(p[1]);
}

/* --- making an attack */

static const struct attack *
find_attack(const char *name)
{
    for (const struct attack *a = attacks; a->name; a++)
        if (!strcmp(a->name, name))
            return a;
    fprintf(stderr, "no such attack\n");
    exit(2);
}

/* Until the attack has reached its aim or ended. */
static void
await_report(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    CHECK(poll(&p, 1, PATIENCE_MS) == 1);
}

/* Ends every other process; the status of `pid`. */
static int
kill_all(pid_t pid)
{
    int status = 0, other;
    pid_t ended;

    if (waitpid(pid, &status, WNOHANG) != pid) {
        (void)kill(-1, SIGKILL);
        CHECK(waitpid(pid, &status, 0) == pid);
    }
    (void)kill(-1, SIGKILL);
    while ((ended = waitpid(-1, &other, 0)) > 0)
        ;
    return status;
}

static int
run_attack(const struct attack *a)
{
    int p[2];
    char c;

    CHECK(pipe2(p, O_CLOEXEC) == 0);
    /* The pipe has its buffer before the attack takes all memory. */
    CHECK(write(p[1], "x", 1) == 1 && read(p[0], &c, 1) == 1);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        close(p[0]);
        dup2(p[1], REPORT_FD);
        close(p[1]);
        a->run();
        exit(0);
    }
    close(p[1]);
    await_report(p[0]);
    close(p[0]);
    int status = kill_all(pid);
    if (WIFSIGNALED(status))
        printf("attack: signal %d\n", WTERMSIG(status));
    else
        printf("attack: exit %d\n", WEXITSTATUS(status));
    remove_tree(BOMB);
    check_file();
    check_pipe();
    check_child();
    printf("usable\n");
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "exit"))
        return 7;
    if (argc > 2 && !strcmp(argv[1], "alone")) {
        find_attack(argv[2])->run();
        return 0;
    }
    return run_attack(find_attack(argc > 1 ? argv[1] : ""));
}

#endif
