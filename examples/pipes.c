/* post: fork */
/* Two processes and a pipe: the child counts the lines its parent writes. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int
count_lines(int fd)
{
    FILE *in = fdopen(fd, "r");
    int c, lines = 0;

    while (in && (c = getc(in)) != EOF)
        lines += c == '\n';
    printf("child %d read %d lines from process %d\n", (int)getpid(), lines,
           (int)getppid());
    return 0;
}

int
main(void)
{
    int ends[2];
    pid_t child;

    if (pipe(ends) < 0 || (child = fork()) < 0) {
        perror("pipes");
        return 1;
    }
    if (child == 0) {
        close(ends[1]);
        return count_lines(ends[0]);
    }
    close(ends[0]);
    for (int i = 0; i < 1000; i++)
        dprintf(ends[1], "line %d\n", i);
    close(ends[1]);
    return waitpid(child, NULL, 0) < 0;
}
