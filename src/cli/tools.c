/* --tools: the programs of a host folder as commands of the sandbox. */
#include "cli/cli.h"
#include "cli/request.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First on every PATH: of ours, of /etc/profile, of the resident shell. */
#define TOOLS_FOLDER "/usr/local/bin/"
#define ENDING       ".wasm"

/* Files whose names a shell or a build system might take for its own. */
static const struct {
    const char *file, *command;
} renamed[] = {{"true-cmd", "true"}, {"false-cmd", "false"}};

static int
is_tool(const struct dirent *d)
{
    size_t len = strlen(d->d_name), ending = strlen(ENDING);

    return d->d_name[0] != '.' && len > ending &&
           !strcmp(d->d_name + len - ending, ENDING);
}

static bool
add_tool(struct request *q, const char *dir, const char *file)
{
    int stem = (int)(strlen(file) - strlen(ENDING));
    char host_path[PATH_MAX_BYTES], name[NAME_MAX_BYTES + 1];
    char guest_path[sizeof TOOLS_FOLDER + sizeof name];

    (void)snprintf(name, sizeof name, "%.*s", stem, file);
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(name, renamed[i].file))
            (void)snprintf(name, sizeof name, "%s", renamed[i].command);
    (void)snprintf(guest_path, sizeof guest_path, TOOLS_FOLDER "%s", name);
    int n = snprintf(host_path, sizeof host_path, "%s/%s", dir, file);
    if (n < 0 || (size_t)n >= sizeof host_path) {
        complain("--tools: %s: %s", dir, strerror(ENAMETOOLONG));
        return false;
    }
    return request_add_program(q, host_path, guest_path, true);
}

bool
request_add_tools(struct request *q, const char *dir)
{
    struct dirent **entries = NULL;
    bool is_fine = true;

    int n = scandir(dir, &entries, is_tool, alphasort);
    if (n < 0) {
        complain("--tools: %s: %s", dir, strerror(errno));
        return false;
    }
    for (int i = 0; i < n; i++) {
        is_fine = is_fine && add_tool(q, dir, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return is_fine;
}
