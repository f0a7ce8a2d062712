/* A tree with the usual folders, from skeleton.def, for sandboxes without a
 * root image. The functions also add single files to a tree: host programs,
 * commands and the files of mounts.
 *
 * Paths are walked without following links, because these trees come from the
 * host. */
#include "lib/skeleton.h"

#include "tree/tree.h"

#include <errno.h>
#include <string.h>

enum { ROOT_INO = 1 };

/* Steps into a folder, which is created if it is missing. */
static int
skeleton_find_or_make_dir(struct tree *t, uint64_t *dir, struct name name,
                          uint32_t uid, int64_t now_ns)
{
    struct attr a = {.mode = S_IFDIR | 0755, .uid = uid, .gid = uid};
    uint64_t up = *dir;

    int r = tree_lookup(t, up, name, dir);
    return r == -ENOENT ? tree_create(t, up, name, &a, now_ns, dir) : r;
}

/* Returns the folder of the last name of `path`, and that name. Missing folders
 * are created. */
static int
skeleton_parent_of(struct tree *t, const char *path, uint32_t uid,
                   int64_t now_ns, uint64_t *ret_dir, struct name *ret_name)
{
    uint64_t dir = ROOT_INO;
    int r = 0;

    for (;;) {
        path += strspn(path, "/");
        struct name n = {path, strcspn(path, "/")};
        path += n.len;
        if (!n.len || n.len > NAME_BYTES_MAX)
            return -EINVAL;
        if (!*path) {
            *ret_dir = dir;
            *ret_name = n;
            return r;
        }
        r = skeleton_find_or_make_dir(t, &dir, n, uid, now_ns);
        if (r < 0)
            return r;
    }
}

/* Parents belong to root, whatever the owner of the folder is. */
static int
put_dir(struct tree *t, const char *path, uint32_t mode, uint32_t uid,
        int64_t now_ns)
{
    struct attr a = {.mode = S_IFDIR | mode, .uid = uid, .gid = uid};
    struct name n;
    uint64_t dir, ino;

    int r = skeleton_parent_of(t, path, 0, now_ns, &dir, &n);
    return r < 0 ? r : tree_create(t, dir, n, &a, now_ns, &ino);
}

int
skeleton_put_file(struct tree *t, const char *path, const void *data,
                  size_t len, const struct attr *a, int64_t now_ns,
                  uint64_t *ret_ino)
{
    struct name n;
    uint64_t dir, ino;

    int r = skeleton_parent_of(t, path, a->uid, now_ns, &dir, &n);
    if (r == 0)
        r = tree_create(t, dir, n, a, now_ns, &ino);
    for (size_t done = 0; r == 0 && done < len;) {
        int64_t w = tree_write(t, ino, done, (const char *)data + done,
                               len - done, now_ns);
        if (w < 0)
            r = (int)w;
        else
            done += (size_t)w;
    }
    if (r == 0)
        *ret_ino = ino;
    return r;
}

uint64_t
skeleton_find(const struct tree *t, const char *path)
{
    uint64_t ino = ROOT_INO;

    while (*path) {
        path += strspn(path, "/");
        struct name n = {path, strcspn(path, "/")};
        if (tree_lookup(t, ino, n, &ino) < 0)
            return 0;
        path += n.len;
    }
    return ino;
}

int
skeleton_link(struct tree *t, const char *path, uint64_t ino, int64_t now_ns)
{
    struct name n;
    uint64_t dir;

    int r = skeleton_parent_of(t, path, 0, now_ns, &dir, &n);
    return r < 0 ? r : tree_link(t, dir, n, ino, now_ns);
}

int
skeleton_fill(struct tree *t, int64_t now_ns)
{
    uint64_t ino;
    const struct attr file = {.mode = S_IFREG | 0644};
    int r = 0;

#define DIR(path, mode, uid) \
    if (r == 0)              \
        r = put_dir(t, path, mode, uid, now_ns);
#define FILE_(path, text)                                                    \
    if (r == 0)                                                              \
        r = skeleton_put_file(t, path, text, sizeof text - 1, &file, now_ns, \
                              &ino);
#include "lib/skeleton.def"
#undef DIR
#undef FILE_
    return r;
}
