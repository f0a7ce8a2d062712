/* Files that are installed with this program: the root image, compiled code,
 * the supervisor. They are found relative to the program itself, so an
 * installation can be moved, and a build folder works without installing. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXE_PATH_BYTES = 1024 };

/* In a build folder the files are in the program's own folder, and in an
 * installation (PREFIX/bin) beside it. */
bool
beside_find(const char *name, char *buf, size_t size)
{
    static const char *const ups[] = {"", "../"}; /* built, installed */
    char exe[EXE_PATH_BYTES];

    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n < 0)
        return false;
    exe[n] = 0;
    *strrchr(exe, '/') = 0;
    for (size_t i = 0; i < sizeof ups / sizeof *ups; i++) {
        (void)snprintf(buf, size, "%s/%s%s", exe, ups[i], name);
        if (access(buf, R_OK) == 0)
            return true;
    }
    return false;
}

/* The variable overrides the installed image, for tests and for images of one's
 * own. */
bool
beside_find_root(char *buf, size_t size)
{
    const char *given = getenv("WASMSAND_ROOT");

    if (!given)
        return beside_find("share/wasmsand/root.tar", buf, size);
    (void)snprintf(buf, size, "%s", given);
    return true;
}

/* Static, because options refer to it until the end of the process. */
const char *
beside_find_code(void)
{
    static char path[ROOT_PATH_BYTES];

    return beside_find("share/wasmsand/code", path, sizeof path) ? path : NULL;
}
