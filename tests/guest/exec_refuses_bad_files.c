/* The errno of execve for each kind of path that is no program. */
#include "proc.h"

static int
try(const char *path)
{
    char *args[] = {"x", NULL};

    return execve(path, args, environ);
}

int
main(void)
{
    char name[300];

    as_user();
    tmpdir();
    CHECK_ERR(try("./none"), ENOENT);
    CHECK_ERR(try(""), ENOENT);
    put("plain", "hello\n");
    CHECK_ERR(try("./plain"), EACCES); /* mode 644 */
    CHECK_ERR(try("./plain/below"), ENOTDIR);
    CHECK_ERR(try("./plain/"), ENOTDIR);
    OK(chmod("plain", 0755));
    CHECK_ERR(try("./plain"), ENOEXEC);
    put("empty", "");
    OK(chmod("empty", 0755));
    CHECK_ERR(try("./empty"), ENOEXEC);
    OK(mkdir("dir", 0755));
    CHECK_ERR(try("./dir"), EACCES);
    OK(symlink("loop", "loop"));
    CHECK_ERR(try("./loop"), ELOOP);
    memset(name, 'n', 299);
    name[299] = 0;
    CHECK_ERR(try(name), ENAMETOOLONG);
    CHECK_ERR(try(BAD_ADDR), EFAULT);
    OK(symlink("plain", "link"));
    CHECK_ERR(try("./link"), ENOEXEC);
    OK(mkdir("shut", 0755));
    put("shut/prog", "x");
    OK(chmod("shut", 0600));
    CHECK_ERR(try("./shut/prog"), EACCES);
    return 0;
}
