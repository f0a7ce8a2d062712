/* Helpers for tests of file systems and terminals. */
#include "fake.h"

#include "kernel/tty.h"

#include <dirent.h>
#include <string.h>

struct task *
fake_task(struct kernel *k, struct task *parent)
{
    struct task *t = world_task(k);

    if (!parent)
        return t;
    list_remove(&t->sibling);
    list_push_back(&parent->children, &t->sibling);
    t->parent = parent;
    t->pgid = parent->pgid;
    t->sid = parent->sid;
    if (parent->ctty)
        t->ctty = tty_get(parent->ctty);
    return t;
}

void
fake_setsid(struct task *t)
{
    t->sid = t->pgid = t->pid;
    tty_put(STEAL(t->ctty));
}

int
fake_mount(struct kernel *k, const char *path, OWN struct fs *fs)
{
    return mount_add(k, path, fs->ops->name, fs, false);
}

int64_t
fake_read(struct file *f, struct task *t, void *buf, size_t len)
{
    return f->ops->read(f, t, buf, len, f->has_pos ? &f->pos : NULL);
}

int64_t
fake_write(struct file *f, struct task *t, const char *text)
{
    return f->ops->write(f, t, text, strlen(text), f->has_pos ? &f->pos : NULL);
}

bool
fake_reads(struct file *f, struct task *t, const char *text)
{
    char buf[512];
    int64_t n = fake_read(f, t, buf, sizeof buf);

    return n == (int64_t)strlen(text) && !memcmp(buf, text, (size_t)n);
}

struct file *
fake_open(struct kernel *k, struct task *t, const char *path, uint32_t flags,
          int *ret_error)
{
    struct mount *root = CONTAINER_OF(k->mounts.next, struct mount, link);
    struct vnode base = {root, root->fs->root};
    struct file *f = NULL;
    int r = vfs_open(k, t, &base, path, flags, 0644, &f);

    if (ret_error)
        *ret_error = r;
    return r < 0 ? NULL : f;
}

int
fake_count_hfds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        (void)closedir(d);
    return n;
}
