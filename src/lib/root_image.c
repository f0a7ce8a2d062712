#include "lib/root_image.h"

#include "base/version.h"
#include "host/tar.h"
#include "lib/error.h"
#include "lib/hostmap.h"
#include "lib/runtime.h"
#include "lib/skeleton.h"
#include "tree/inode.h"
#include "tree/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the version in /etc/os-release of an image of ours, or "" for an
 * image of somebody else. */
static void
root_image_version(const struct tree *t, char *buf, size_t size)
{
    const struct inode *i = tree_find(t, skeleton_find(t, "/etc/os-release"));
    char text[1024] = "\n";

    *buf = 0;
    if (!i || i->size > sizeof text - 2)
        return;
    (void)inode_read(i, 0, text + 1, i->size);
    const char *p = strstr(text, "\nVERSION_ID=\"");
    if (p && strstr(text, "\nID=wasmsand\n"))
        (void)snprintf(buf, size, "%.*s", (int)strcspn(p + 13, "\""), p + 13);
}

/* The programs of an image are compiled against the kernel of the same version,
 * so another version is refused. A version like "1.2" accepts all of 1.2.x. */
static int
root_image_check_version(const struct image *image, const char *path,
                         struct wsand_error *err)
{
    char found[32];

    root_image_version(image_tree(image), found, sizeof found);
    size_t len = strlen(found);
    if (!strncmp(found, WSAND_VERSION, len) &&
        (!len || strchr(".", WSAND_VERSION[len])))
        return 0;
    return error_set(err, EINVAL, "root image %s: version %s instead of %s",
                     path, found, WSAND_VERSION);
}

/* Maps and indexes the file. On failure the image has no index, and the next
 * sandbox tries again. */
static int
root_image_index(struct root_image *i, struct wsand_error *err)
{
    CLEANUP(image_putp) struct image *image = NULL;
    struct image_error why = {0};

    int r = hostmap_open(i->path, &i->file);
    if (r < 0)
        return error_errno(err, -r, "root image %s", i->path);
    r = tar_index(i->file.bytes, i->file.len, &image, &why);
    if (r == -EINVAL)
        return error_set(err, EINVAL, "root image %s: at byte %llu: %s",
                         i->path, (unsigned long long)why.offset, why.reason);
    if (r < 0)
        return error_errno(err, -r, "root image %s", i->path);
    r = root_image_check_version(image, i->path, err);
    if (r == 0)
        i->image = STEAL(image);
    return r;
}

/* The lock makes other threads wait for the first one. */
int
root_image_open(struct root_image *i, struct wsand_error *err)
{
    int r = 0;

    pthread_mutex_lock(&i->shell.lock);
    if (i->path && !i->image)
        r = root_image_index(i, err);
    if (r < 0) {
        hostmap_close(&i->file);
        i->file = (struct host_file){0};
    }
    pthread_mutex_unlock(&i->shell.lock);
    return r;
}

int
root_image_init(struct root_image *i, const char *name, const char *path)
{
    *i = (struct root_image){.name = strdup(name),
                             .path = path ? strdup(path) : NULL};
    (void)pthread_mutex_init(&i->shell.lock, NULL);
    return i->name && !i->path == !path ? 0 : -ENOMEM;
}

void
root_image_close(struct root_image *i)
{
    shell_image_fini(&i->shell);
    image_put(i->image);
}

void
root_image_fini(struct root_image *i)
{
    hostmap_close(&i->file);
    free(i->name);
    free(i->path);
}
