/* Loads all programs of the root images at once.
 *
 * Each inode that is a program gets its compiled code, as it would when it is
 * first run. All sandboxes share these inodes. A worker does this before it
 * seals itself, because no code can be mapped afterwards; the build does it to
 * ship compiled code. */
#include "lib/runtime.h"

#include "base/hfd.h"
#include "engine/engine.h"
#include "lib/error.h"
#include "tree/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Only programs that no guest could have written count: root owns them, and
 * nobody else may write them. */
static bool
preload_is_program(const struct inode *i)
{
    const void *content = S_ISREG(i->mode) && i->size > 8 && i->uid == 0 &&
                                  !(i->mode & (S_IWGRP | S_IWOTH))
                              ? inode_content(i)
                              : NULL;

    return content && !memcmp(content, "\0asm", 4);
}

/* A file that is not a program after all fails when it is run. With a folder,
 * the code is also written there. */
static int
preload_load_inode(struct wsand_runtime *rt, const struct root_image *image,
                   uint64_t ino, int dir_hfd)
{
    const struct tree *t = image_tree(image->image);
    const struct inode *i = tree_find(t, ino);
    CLEANUP(program_putp) struct program *p = NULL;
    char why[160];

    if (!i || i->attached || !preload_is_program(i))
        return 0;
    const struct program_source src = {.bytes = inode_content(i),
                                       .len = i->size,
                                       .name = "a program of the root image",
                                       .is_trusted = true,
                                       .file = &image->file};
    int r = runtime_load(rt, &src, &p, why, sizeof why);
    if (r == 0)
        tree_attach(t, ino, &p->ref);
    if (r == 0 && dir_hfd >= 0)
        r = engine_ship(rt->engine, &src, dir_hfd);
    return r == -ENOEXEC ? 0 : r;
}

/* Inodes have consecutive numbers in an image, so all of them are visited
 * without walking the directories. */
static int
preload_load_image(struct wsand_runtime *rt, struct root_image *i, int dir_hfd,
                   struct wsand_error *err)
{
    int r = root_image_open(i, err);

    if (r < 0 || !i->image)
        return r;
    uint64_t end = image_tree(i->image)->next_ino;
    for (uint64_t ino = TREE_ROOT; r == 0 && ino < end; ino++)
        r = preload_load_inode(rt, i, ino, dir_hfd);
    return r == 0
               ? 0
               : error_errno(err, -r, "cannot load the root image's programs");
}

static int
preload_load_all(struct wsand_runtime *rt, int dir_hfd, struct wsand_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < rt->n_images; i++)
        r = preload_load_image(rt, &rt->images[i], dir_hfd, err);
    return r;
}

int
runtime_close(struct wsand_runtime *rt, struct wsand_error *err)
{
    int r = preload_load_all(rt, -1, err);

    if (r != 0)
        return r;
    r = engine_close(rt->engine);
    return r == 0 ? 0 : error_errno(err, -r, "cannot start the compiler");
}

int
wsand_precompile(struct wsand_runtime *rt, const char *dir,
                 struct wsand_error *err)
{
    (void)mkdir(dir, 0755);
    CLEANUP(hfd_closep)
    int hfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (hfd < 0)
        return error_errno(err, errno, "%s", dir);
    return preload_load_all(rt, hfd, err);
}
