/* As much of /bin/sh as system() and popen() need in tests: `sh -c` with simple
 * commands between semicolons, whole words that are variables, redirections of
 * 1 and 2, and a few builtins. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 32, LINE_MAX_BYTES = 256 };
extern char **environ;
static int status;

static void
redirect(const char *to, int fd)
{
    int file = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (file < 0 || dup2(file, fd) < 0 || close(file) < 0)
        _exit(2);
}

static char *
expand(char *word)
{
    static char pid[16];

    if (word[0] != '$')
        return word;
    if (!strcmp(word, "$$")) {
        snprintf(pid, sizeof pid, "%d", (int)getpid());
        return pid;
    }
    return getenv(word + 1);
}

static int
do_echo(char **argv)
{
    for (int i = 1; argv[i]; i++)
        printf("%s%s", i > 1 ? " " : "", argv[i]);
    return printf("\n") < 0 || fflush(stdout) != 0;
}

static int
do_read(char **argv)
{
    char line[LINE_MAX_BYTES];

    if (!fgets(line, sizeof line, stdin))
        return 1;
    line[strcspn(line, "\n")] = 0;
    return setenv(argv[1], line, 1) != 0;
}

static int
run_program(char **argv)
{
    int s;
    pid_t pid = vfork();

    if (!pid) {
        execve(argv[0], argv, environ);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &s, 0) != pid)
        return 126;
    return WIFEXITED(s) ? WEXITSTATUS(s) : 128 + WTERMSIG(s);
}

static int
run_words(char **argv)
{
    if (!argv[0] || !strcmp(argv[0], "true"))
        return 0;
    if (!strcmp(argv[0], "echo"))
        return do_echo(argv);
    if (!strcmp(argv[0], "read"))
        return do_read(argv);
    if (!strcmp(argv[0], "kill")) /* -TERM */
        return kill(atoi(argv[2]), SIGTERM) != 0;
    if (!strcmp(argv[0], "exit"))
        exit(argv[1] ? atoi(argv[1]) : status);
    if (strcmp(argv[0], "exec") != 0)
        return run_program(argv);
    execve(argv[1], argv + 1, environ);
    exit(127);
}

/* Redirections are for the rest of the script: the tests need no more. */
static int
run_command(char *text)
{
    char *argv[WORDS_MAX + 1] = {NULL}, *rest = NULL;
    int n = 0;

    for (char *w = strtok_r(text, " ", &rest); w && n < WORDS_MAX;
         w = strtok_r(NULL, " ", &rest)) {
        if (!strcmp(w, ">"))
            redirect(strtok_r(NULL, " ", &rest), 1);
        else if (!strncmp(w, "2>", 2))
            redirect(w + 2, 2);
        else if ((w = expand(w)))
            argv[n++] = w;
    }
    return run_words(argv);
}

int
main(int argc, char **argv)
{
    char *rest = NULL;

    if (argc < 3 || strcmp(argv[1], "-c") != 0)
        return 2;
    char *script = strdup(argv[2]);
    for (char *c = strtok_r(script, ";", &rest); c;
         c = strtok_r(NULL, ";", &rest))
        status = run_command(c);
    return status;
}
