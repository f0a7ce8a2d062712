/* Errors of the interpreter are those of the script that names it. */
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
    as_user();
    tmpdir();
    put_script("missing", "/no/such/interpreter", "");
    CHECK_ERR(try("./missing"), ENOENT);

    put("plain", "hello\n");
    put_script("closed", "./plain", "");
    CHECK_ERR(try("./closed"), EACCES);
    OK(chmod("plain", 0755));
    CHECK_ERR(try("./closed"), ENOEXEC);

    OK(mkdir("dir", 0755));
    put_script("folder", "./dir", "");
    CHECK_ERR(try("./folder"), EACCES);

    put_script("nothing", "", "");
    CHECK_ERR(try("./nothing"), ENOEXEC);
    put_script("blank", " \t ", "");
    CHECK_ERR(try("./blank"), ENOEXEC);

    put_script("self", "./self", "");
    CHECK_ERR(try("./self"), ELOOP);
    return 0;
}
