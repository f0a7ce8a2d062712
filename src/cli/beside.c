/* Files that are installed with this program: the root image, compiled code,
 * the supervisor. They are found relative to the program itself, so an
 * installation can be moved, and a build folder works without installing. */
#include "cli/cli.h"

#include "supervisor/config/image_list.h"
#include "wasmsand.h"

#include <errno.h>
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

/* Static, as that of beside_find_code. */
bool
beside_find_images(const char *listed, const struct wsand_image **ret,
                   size_t *ret_n)
{
    static struct image_list list;
    static struct wsand_image *images;
    const char *variable = getenv("WASMSAND_IMAGES");
    char dir[ROOT_PATH_BYTES];

    if (!listed)
        listed = variable ? variable : "";
    int r = image_list_parse(&list, listed);
    if (r == 0 && beside_find("share/wasmsand/images", dir, sizeof dir))
        r = image_list_scan(&list, dir);
    if (r == 0)
        images = calloc(list.n + 1, sizeof *images);
    if (r == -EINVAL)
        complain("images: '%s' is not NAME=/PATH,... with different names "
                 "of letters, digits, '.', '_' and '-'",
                 listed);
    else if (!images)
        complain("out of memory");
    for (size_t i = 0; images && i < list.n; i++)
        images[i] = (struct wsand_image){list.v[i].name, list.v[i].path};
    *ret = images;
    *ret_n = list.n;
    return images;
}

/* Static, because options refer to it until the end of the process. */
const char *
beside_find_code(void)
{
    static char path[ROOT_PATH_BYTES];

    return beside_find("share/wasmsand/code", path, sizeof path) ? path : NULL;
}

/* Static, as that of beside_find_code. */
const char *
beside_find_broker(void)
{
    static char path[ROOT_PATH_BYTES];

    return beside_find("libexec/wasmsand-netd", path, sizeof path) ? path
                                                                   : NULL;
}
