/* The hashes of root images.
 *
 * Problem: reading and hashing an image takes longer than the rest of a start.
 *
 * Idea: an entry in the user's cache contains the hash together with the
 * identity of the file: device, inode, size and times. A file that was changed
 * less than MIN_AGE_S ago gets no entry, because it could change once more
 * within the resolution of its times. */
#include "supervisor/session/image_hash.h"

#include "base/blake2b.h"
#include "base/hfd.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 1200, ENTRY_BYTES = 256, MIN_AGE_S = 2 };

/* The attributes of a file, as text that begins an entry. */
struct identity {
    struct stat st;
    char text[ENTRY_BYTES];
};

/* The file is read in small pieces, from the current position to its end. */
static int
image_hash_file(int hfd, char ret[IMAGE_HASH_BYTES])
{
    uint8_t hash[BLAKE2B_BYTES], part[2048];
    struct blake2b b;
    ssize_t n;

    blake2b_init(&b);
    while ((n = read(hfd, part, sizeof part)) > 0)
        blake2b_add(&b, part, (size_t)n);
    if (n < 0)
        return -errno;
    blake2b_end(&b, hash);
    for (size_t i = 0; i < sizeof hash; i++)
        (void)snprintf(ret + 2 * i, 3, "%02x", hash[i]);
    return 0;
}

int
image_hash(const char *path, char ret[IMAGE_HASH_BYTES])
{
    CLEANUP(hfd_closep) int hfd = open(path, O_RDONLY | O_CLOEXEC);

    return hfd < 0 ? -errno : image_hash_file(hfd, ret);
}

/* --- the cache */

/* Returns the attributes that change whenever the contents change. */
static int
image_hash_identify(int hfd, struct identity *ret)
{
    struct stat *st = &ret->st;

    if (fstat(hfd, st) < 0)
        return -errno;
    (void)snprintf(ret->text, sizeof ret->text,
                   "%ju %ju %jd %jd.%09ld %jd.%09ld ", (uintmax_t)st->st_dev,
                   (uintmax_t)st->st_ino, (intmax_t)st->st_size,
                   (intmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
                   (intmax_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
    return 0;
}

/* Returns the path of the entry about this file. False: this user has no
 * cache. */
static bool
image_hash_cache_path(const struct identity *file, char ret[PATH_BYTES])
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool has_xdg = xdg && *xdg == '/';

    if (!has_xdg && (!home || *home != '/'))
        return false;
    int n = snprintf(ret, PATH_BYTES, "%s%s/wasmsand/image-%jx-%jx",
                     has_xdg ? xdg : home, has_xdg ? "" : "/.cache",
                     (uintmax_t)file->st.st_dev, (uintmax_t)file->st.st_ino);
    return n < PATH_BYTES;
}

/* An entry that another user wrote or could have written is not trusted. */
static bool
image_hash_read_cached(const char *path, const struct identity *file,
                       char ret[IMAGE_HASH_BYTES])
{
    CLEANUP(hfd_closep)
    int hfd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    size_t len = strlen(file->text);
    char entry[ENTRY_BYTES + IMAGE_HASH_BYTES];
    struct stat st;

    if (hfd < 0 || fstat(hfd, &st) < 0 || st.st_uid != geteuid() ||
        st.st_mode & (S_IWGRP | S_IWOTH))
        return false;
    ssize_t n = read(hfd, entry, sizeof entry);
    if (n != (ssize_t)(len + IMAGE_HASH_BYTES - 1) ||
        memcmp(entry, file->text, len) != 0)
        return false;
    memcpy(ret, entry + len, IMAGE_HASH_BYTES - 1);
    ret[IMAGE_HASH_BYTES - 1] = 0;
    return strspn(ret, "0123456789abcdef") == IMAGE_HASH_BYTES - 1;
}

/* The entry is not made durable: an entry that is lost or incomplete is written
 * again. */
static void
image_hash_write_cached(const char *path, const struct identity *file,
                        const char *hash)
{
    char aside[PATH_BYTES + 32];

    (void)snprintf(aside, sizeof aside, "%s.%jd", path, (intmax_t)getpid());
    CLEANUP(hfd_closep)
    int hfd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (hfd < 0)
        return;
    if (hfd_write_all(hfd, file->text, strlen(file->text)) < 0 ||
        hfd_write_all(hfd, hash, strlen(hash)) < 0 || rename(aside, path) < 0)
        (void)unlink(aside);
}

/* True if the file did not change while it was read, nor for some time
 * before. */
static bool
image_hash_is_settled(int hfd, const struct identity *before)
{
    struct identity now = {0};

    return image_hash_identify(hfd, &now) == 0 &&
           !strcmp(now.text, before->text) &&
           time(NULL) - now.st.st_ctim.tv_sec >= MIN_AGE_S;
}

/* The hash of the opened file is computed, so that a file that replaces it
 * meanwhile cannot be confused with it. */
int
image_hash_cached(const char *path, char ret[IMAGE_HASH_BYTES])
{
    CLEANUP(hfd_closep) int hfd = open(path, O_RDONLY | O_CLOEXEC);
    struct identity file = {0};
    char cache[PATH_BYTES];

    int r = hfd < 0 ? -errno : image_hash_identify(hfd, &file);
    if (r < 0)
        return r;
    bool has_cache = image_hash_cache_path(&file, cache);
    if (has_cache && image_hash_read_cached(cache, &file, ret))
        return 0;
    r = image_hash_file(hfd, ret);
    if (r == 0 && has_cache && image_hash_is_settled(hfd, &file))
        image_hash_write_cached(cache, &file, ret);
    return r;
}
