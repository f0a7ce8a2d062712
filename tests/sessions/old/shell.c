/* The resident shell of the image that old/image holds, and a program in it.
 * It was compiled with the libc of commit 111644e7, from before threads, and is
 * kept as it was: see README.md. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wasmsand.h>

#define SYS_SHELL_COMMAND 1000
#define LENGTH_MASK       ((1 << 29) - 1)

static char *value; /* survives from command to command, in the heap */

static void *
thread(void *arg)
{
    return arg;
}

static int
say(const char *text)
{
    size_t len = strlen(text);

    return write(1, text, len) != (ssize_t)len || write(1, "\n", 1) != 1;
}

static int
append(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);

    return fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd) < 0;
}

static int
cat(const char *path)
{
    char text[1000];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (n < 0)
        return 1;
    text[n] = '\0';
    return say(text) || close(fd) < 0;
}

static int
start(const char *word)
{
    int status;
    pid_t pid = vfork();

    if (pid == 0) {
        execl("/bin/old", "old", word, NULL);
        _exit(127);
    }
    return waitpid(pid, &status, 0) != pid || status != 0;
}

static int
run(char *text)
{
    char *verb = strtok(text, " "), *first = strtok(NULL, " ");
    char *second = strtok(NULL, " ");
    pthread_t t;

    if (strcmp(verb, "set") == 0) {
        free(value);
        return !(value = strdup(first));
    }
    if (strcmp(verb, "get") == 0)
        return say(value ? value : "nothing");
    if (strcmp(verb, "append") == 0)
        return append(first, second);
    if (strcmp(verb, "cat") == 0)
        return cat(first);
    if (strcmp(verb, "start") == 0)
        return start(first);
    if (strcmp(verb, "thread") == 0)
        return pthread_create(&t, NULL, thread, NULL);
    return 127;
}

__attribute__((export_name("wasmsand_resume"))) void
wasmsand_resume(void)
{
    long n = syscall(SYS_SHELL_COMMAND, 0, 0) & LENGTH_MASK;
    char *text = calloc(1, (size_t)n + 1);

    syscall(SYS_SHELL_COMMAND, text, n);
    int status = run(text);
    free(text);
    wasmsand_next(status);
}

int
main(int argc, char **argv)
{
    if (getenv("WASMSAND_RESIDENT")) {
        unsetenv("WASMSAND_RESIDENT");
        return wasmsand_next(0);
    }
    return argc != 2 || say(argv[1]);
}
