/* The owners of installed code. Compiled code is native code: a file that
 * another user could have written must never be mapped. */
#include "supervisor/jail/code_owner.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
code_owner_is_safe(const struct stat *st)
{
    return (st->st_uid == 0 || st->st_uid == geteuid()) &&
           !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Anything but regular files (a link, for example) could lead elsewhere. */
static bool
code_owner_entries_are_safe(DIR *d)
{
    const struct dirent *e;
    struct stat st;

    while ((e = readdir(d)))
        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            (e->d_name[0] != '.' &&
             (!S_ISREG(st.st_mode) || !code_owner_is_safe(&st))))
            return false;
    return true;
}

bool
code_owner_is_trusted(const char *dir)
{
    struct stat st;
    DIR *d = opendir(dir);

    if (!d)
        return false;
    bool is_trusted = fstat(dirfd(d), &st) == 0 && code_owner_is_safe(&st) &&
                      code_owner_entries_are_safe(d);
    (void)closedir(d);
    return is_trusted;
}
