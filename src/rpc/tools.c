/* Finding the programs of a host folder. */
#include "rpc/tools.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024, NAME_BYTES = 256 };

/* On every PATH, before the programs of the image: of ours, of /etc/profile, of
 * the resident shell. */
#define TOOLS_FOLDER "/usr/local/bin/"
#define ENDING       ".wasm"

/* Files whose names a shell or a build system might take for its own. */
static const struct {
    const char *file, *command;
} renamed[] = {{"true-cmd", "true"}, {"false-cmd", "false"}};

static int
tools_is_tool(const struct dirent *d)
{
    size_t len = strlen(d->d_name), ending = strlen(ENDING);

    return d->d_name[0] != '.' && len > ending &&
           !strcmp(d->d_name + len - ending, ENDING);
}

/* The name of the command is that of the file, without its ending. */
static int
tools_add(const char *dir, const char *file,
          int (*add)(void *, const char *, const char *), void *arg)
{
    int stem = (int)(strlen(file) - strlen(ENDING));
    char host_path[PATH_BYTES], name[NAME_BYTES];
    char guest_path[sizeof TOOLS_FOLDER + sizeof name];

    (void)snprintf(name, sizeof name, "%.*s", stem, file);
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(name, renamed[i].file))
            (void)snprintf(name, sizeof name, "%s", renamed[i].command);
    (void)snprintf(guest_path, sizeof guest_path, TOOLS_FOLDER "%s", name);
    int n = snprintf(host_path, sizeof host_path, "%s/%s", dir, file);
    if (n < 0 || (size_t)n >= sizeof host_path)
        return -ENAMETOOLONG;
    return add(arg, host_path, guest_path);
}

/* The files are sorted by name, so that sandboxes do not depend on the order
 * of the folder. */
int
tools_scan(const char *dir,
           int (*add)(void *arg, const char *host_path, const char *guest_path),
           void *arg)
{
    struct dirent **entries = NULL;
    int r = 0;

    int n = scandir(dir, &entries, tools_is_tool, alphasort);
    if (n < 0)
        return -errno;
    for (int i = 0; i < n; i++) {
        if (r == 0)
            r = tools_add(dir, entries[i]->d_name, add, arg);
        free(entries[i]);
    }
    free(entries);
    return r;
}
