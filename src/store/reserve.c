/* A reserve of space: a file that exists only to be given up.
 *
 * Problem: a full disk cannot accept the commit that would empty it. Removing a
 * file or ending a session is a transaction too, and upkeep needs some more
 * space to release the rest.
 *
 * Idea: a file occupies space from the opening of the store on. When the disk
 * is full, it is emptied for a commit that makes a session smaller, for upkeep
 * after a session has ended, and to open the store. Until it has its size
 * again, no other commit is accepted. An empty file therefore means that the
 * reserve is in use, also by an earlier program. */
#include "store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESERVE_BYTES = 8 << 20 };

static off_t
reserve_size_of(const struct store *s)
{
    return s->options.reserve_bytes ? s->options.reserve_bytes : RESERVE_BYTES;
}

/* A partly filled reserve is emptied again: an empty file is the durable mark
 * that the reserve is in use. */
int
reserve_fill(struct store *s)
{
    if (!s->is_reserve_used)
        return 0;
    int error = posix_fallocate(s->reserve_hfd, 0, reserve_size_of(s));
    if (error) {
        (void)!ftruncate(s->reserve_hfd, 0);
        return store_fail(
            s, -ENOSPC,
            "the disk is full, and the store's reserve is in use: end "
            "sessions or remove files (%s)",
            strerror(error));
    }
    s->is_reserve_used = false;
    return 0;
}

bool
reserve_use(struct store *s)
{
    if (s->reserve_hfd < 0)
        return false;
    s->is_reserve_used = true;
    s->may_tidy = s->may_shrink = true; /* to get it back */
    return ftruncate(s->reserve_hfd, 0) == 0;
}

/* Deleting single chunks frees too little to be worth the reserve; a loose
 * layer is all that an ended session had. */
bool
reserve_use_for_upkeep(struct store *s)
{
    int64_t layer = 0;

    return !s->is_reserve_used &&
           sql_number(s, &layer, SQL_loose_layer_get, "") == 0 && layer &&
           reserve_use(s);
}

void
reserve_open(struct store *s, const char *dir)
{
    char path[STORE_PATH_BYTES];
    struct stat st;

    (void)snprintf(path, sizeof path, "%s/reserve", dir);
    bool was_there = access(path, F_OK) == 0;
    s->reserve_hfd =
        open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->reserve_hfd < 0 || fstat(s->reserve_hfd, &st))
        return;
    s->is_reserve_used = st.st_size < reserve_size_of(s);
    if (reserve_fill(s) == 0 || was_there)
        return;
    /* There never was one, and the disk has no space for it: the store works
     * without. */
    (void)unlink(path);
    (void)close(s->reserve_hfd);
    s->reserve_hfd = -1;
    s->is_reserve_used = false;
}

/* The lock must be held. The store was not opened, so the file is found by its
 * name. */
bool
reserve_give_up(const struct store *s, const char *dir)
{
    char path[STORE_PATH_BYTES];
    struct stat st;

    (void)snprintf(path, sizeof path, "%s/reserve", dir);
    return !s->options.is_copy && lstat(path, &st) == 0 &&
           S_ISREG(st.st_mode) && st.st_size && truncate(path, 0) == 0;
}

bool
store_has_reserve(const struct store *s)
{
    return s->reserve_hfd >= 0 && !s->is_reserve_used;
}
