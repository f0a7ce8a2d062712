/* posix_spawn returns the child's errno, and leaves nothing to wait for. */
#include "proc.h"

int
main(void)
{
    char *args[] = {"x", NULL};
    posix_spawn_file_actions_t fa;
    pid_t pid;

    tmpdir();
    CHECK_EQ(posix_spawn(&pid, "./none", NULL, NULL, args, environ), ENOENT);
    put("plain", "x");
    CHECK_EQ(posix_spawn(&pid, "./plain", NULL, NULL, args, environ), EACCES);
    OK(chmod("plain", 0755));
    CHECK_EQ(posix_spawn(&pid, "./plain", NULL, NULL, args, environ), ENOEXEC);
    CHECK_EQ(posix_spawn_file_actions_init(&fa), 0);
    CHECK_EQ(posix_spawn_file_actions_addopen(&fa, 5, "none", O_RDONLY, 0), 0);
    CHECK_EQ(posix_spawn(&pid, "/proc/self/exe", &fa, NULL, args, environ),
             ENOENT);
    CHECK_ERR(waitpid(-1, NULL, 0), ECHILD);
    return 0;
}
