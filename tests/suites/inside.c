/* Runs the program of its own name inside, with the same arguments, environment
   and current folder. run-suite gives SANDBOX, the command without these,
   SANDBOX_PATH, the PATH there, and CACHE, the folder for compiled programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int
main(int argc, char **argv)
{
    char *sandbox[] = {SANDBOX};
    char *rest[] = {"--cwd", getcwd(NULL, 0), "-c", "exec env -i \"$@\"",
                    "env"};
    char *slash = strrchr(argv[0], '/');
    char *words[4096];
    size_t n = 0;

    for (size_t i = 0; i < sizeof sandbox / sizeof *sandbox; i++)
        words[n++] = sandbox[i];
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        words[n++] = rest[i];
    for (char **e = environ; *e && n < 2048; e++)
        if (strncmp(*e, "PATH=", 5) != 0)
            words[n++] = *e;
    words[n++] = SANDBOX_PATH;
    words[n++] = slash ? slash + 1 : argv[0];
    for (int i = 1; i <= argc && n < 4096; i++)
        words[n++] = argv[i];
    setenv("XDG_CACHE_HOME", CACHE, 1);
    execv(words[0], words);
    perror(words[0]);
    return 126;
}
