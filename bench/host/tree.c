/* A clone of a file system with 10,000 files: time and memory. */
#include "host.h"

#include "tree/tree.h"

#include <malloc.h>
#include <string.h>

enum { DIRS = 100, FILES = 100, CLONES = 1000 };

static struct tree original, clones[CLONES];

static void
fill(struct tree *t)
{
    const struct quota max = {UINT64_MAX, UINT64_MAX};
    const struct attr dir_attr = {.mode = S_IFDIR | 0755};
    const struct attr file_attr = {.mode = S_IFREG | 0644};
    uint64_t dir, file;
    char name[16];

    NEED(tree_init(t, &max, 0) == 0);
    for (int d = 0; d < DIRS; d++) {
        snprintf(name, sizeof name, "dir%d", d);
        NEED(tree_create(t, TREE_ROOT, (struct name){name, strlen(name)},
                         &dir_attr, 0, &dir) == 0);
        for (int f = 0; f < FILES; f++) {
            snprintf(name, sizeof name, "file%d", f);
            NEED(tree_create(t, dir, (struct name){name, strlen(name)},
                             &file_attr, 0, &file) == 0);
            NEED(tree_write(t, file, 0, name, sizeof name, 0) == sizeof name);
        }
    }
}

static void
clone_all(void)
{
    for (int i = 0; i < CLONES; i++)
        NEED(tree_clone(&original, &clones[i]) == 0);
}

static void
free_all(void)
{
    for (int i = 0; i < CLONES; i++)
        tree_fini(&clones[i]);
}

static void
clone_and_free(void)
{
    clone_all();
    free_all();
}

int
clone_tree(int argc, char **argv)
{
    (void)argc, (void)argv;
    fill(&original);
    report("clone", best_ns(clone_and_free, CLONES) / 1000, "us");
    size_t before = mallinfo2().uordblks;
    clone_all();
    size_t more = mallinfo2().uordblks - before;
    report("clone size", sizeof original + (double)more / CLONES, "bytes");
    free_all();
    tree_fini(&original);
    return 0;
}
