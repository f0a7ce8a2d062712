#include "v86/image/files.h"

#include "v86/image/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TREE_FDS = 16, NANO_PER_MILLI = 1000000 };

/* The file that AGENT_WRITE has opened. */
static int file = -1, file_error;

static uint8_t data[AGENT_DATA_MAX];

/* --- contents */

/* Creates the folders above a path. Errors are those of using the path. */
static void
make_parents(char *path)
{
    for (char *p = path; *p && (p = strchr(p + 1, '/'));) {
        *p = 0;
        (void)mkdir(path, 0755);
        *p = '/';
    }
}

static int
file_open(const struct agent_part *part, char *path)
{
    uint32_t flags = part->flags, mode = flags & 07777;
    int how = flags & AGENT_APPEND ? O_APPEND : flags & AGENT_AT ? 0 : O_TRUNC;

    file_error = 0;
    if (flags & AGENT_PARENTS)
        make_parents(path);
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, mode);
    if (file < 0 || (flags & AGENT_HAS_MODE && fchmod(file, mode) < 0) ||
        (flags & AGENT_AT && lseek(file, (off_t)part->offset, SEEK_SET) < 0))
        file_error = errno;
    return file_error;
}

static void
file_add(const uint8_t *p, uint32_t len)
{
    while (len && !file_error) {
        ssize_t n = write(file, p, len);
        if (n < 0) {
            file_error = errno;
            return;
        }
        p += n;
        len -= (uint32_t)n;
    }
}

static int
file_close(void)
{
    if (file >= 0 && close(file) < 0 && !file_error)
        file_error = errno;
    file = -1;
    return file_error;
}

static size_t
smaller(uint64_t a, size_t b)
{
    return a < b ? (size_t)a : b;
}

static int
file_send(struct agent *a, const struct agent_part *part, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t left = part->len;
    ssize_t n = -1;

    if (fd >= 0 && part->offset)
        (void)lseek(fd, (off_t)part->offset, SEEK_SET);
    if (fd >= 0)
        while ((n = read(fd, data, smaller(left, sizeof data))) > 0) {
            port_send(a, AGENT_CONTENT, data, (uint32_t)n);
            left -= (uint64_t)n;
        }
    int error = n < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return error;
}

/* --- the tree */

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static int
tree_remove(bool is_recursive, const char *path)
{
    struct stat st;
    int r = lstat(path, &st);

    if (r == 0 && S_ISDIR(st.st_mode) && is_recursive)
        r = nftw(path, remove_one, TREE_FDS, FTW_DEPTH | FTW_PHYS);
    else if (r == 0)
        r = S_ISDIR(st.st_mode) ? rmdir(path) : unlink(path);
    return r < 0 ? errno : 0;
}

static struct agent_stat
stat_of(const struct stat *st)
{
    return (struct agent_stat){
        .size = (uint64_t)st->st_size,
        .mtime_ms = st->st_mtim.tv_sec * 1000LL +
                    (int)st->st_mtim.tv_nsec / NANO_PER_MILLI,
        .mode = st->st_mode,
    };
}

static int
tree_stat(struct agent *a, bool follows, const char *path)
{
    struct stat st;

    if ((follows ? stat(path, &st) : lstat(path, &st)) < 0)
        return errno;
    struct agent_stat s = stat_of(&st);
    port_send(a, AGENT_CONTENT, &s, sizeof s);
    return 0;
}

/* Each entry is one message. One that has disappeared is left out. */
static int
tree_list(struct agent *a, const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    struct stat st;

    if (!dir)
        return errno;
    while ((e = readdir(dir))) {
        size_t len = strlen(e->d_name);

        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        struct agent_stat s = stat_of(&st);
        memcpy(data, &s, sizeof s);
        memcpy(data + sizeof s, e->d_name, len);
        port_send(a, AGENT_CONTENT, data, (uint32_t)(sizeof s + len));
    }
    closedir(dir);
    return 0;
}

static int
checked(int r)
{
    return r < 0 ? errno : 0;
}

/* The last folder fails if it exists as something else. */
static int
tree_mkdir(uint32_t flag, char *path)
{
    struct stat st;

    if (!(flag & AGENT_PARENTS))
        return checked(mkdir(path, flag));
    make_parents(path);
    if (mkdir(path, flag & ~(uint32_t)AGENT_PARENTS) == 0)
        return 0;
    int error = errno;
    return error == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)
               ? 0
               : error;
}

/* --- messages */

static int
serve_flagged(struct agent *a, uint32_t type, uint32_t flag, char *path)
{
    const char *second = path + strlen(path) + 1;

    switch (type) {
    case AGENT_WRITE:
        return file_open(&(struct agent_part){.flags = flag | AGENT_HAS_MODE},
                         path);
    case AGENT_MKDIR:
        return tree_mkdir(flag, path);
    case AGENT_REMOVE:
        return tree_remove(flag, path);
    case AGENT_CHMOD:
        return checked(chmod(path, flag));
    case AGENT_RENAME:
        return checked(rename(path, second));
    case AGENT_SYMLINK:
        return checked(symlink(path, second));
    case AGENT_STAT:
        return tree_stat(a, flag, path);
    default:
        return tree_list(a, path);
    }
}

static bool
has_flag(uint32_t type)
{
    return type == AGENT_WRITE || (type >= AGENT_MKDIR && type <= AGENT_LIST);
}

/* Messages with two paths must have both. */
static bool
is_complete(uint32_t type, const char *path, uint32_t len)
{
    bool needs_two = type == AGENT_RENAME || type == AGENT_SYMLINK;

    return !needs_two || strlen(path) < len;
}

static int
serve_part(struct agent *a, uint32_t type, uint8_t *p, uint32_t len)
{
    struct agent_part part;

    if (len < sizeof part)
        return EINVAL;
    memcpy(&part, p, sizeof part);

    char *path = (char *)p + sizeof part;
    return type == AGENT_WRITE_PART ? file_open(&part, path)
                                    : file_send(a, &part, path);
}

bool
files_serve(struct agent *a, uint32_t type, uint8_t *p, uint32_t len)
{
    static const struct agent_part whole = {.len = UINT64_MAX};
    uint32_t flag;
    char *path = (char *)p + sizeof flag;

    if (has_flag(type)) {
        if (len < sizeof flag || !is_complete(type, path, len - sizeof flag)) {
            port_result(a, EINVAL);
            return true;
        }
        memcpy(&flag, p, sizeof flag);
        port_result(a, serve_flagged(a, type, flag, path));
    } else if (type == AGENT_DATA) {
        file_add(p, len);
    } else if (type == AGENT_CLOSE) {
        port_result(a, file_close());
    } else if (type == AGENT_READ) {
        port_result(a, file_send(a, &whole, (const char *)p));
    } else if (type == AGENT_WRITE_PART || type == AGENT_READ_PART) {
        port_result(a, serve_part(a, type, p, len));
    } else {
        return false;
    }
    return true;
}
