/* References to inodes by the position of their mount. A pointer to a mount is
 * valid in one sandbox only; its position is valid in all copies. */
#include "lib/inode_ref.h"

#include "kernel/kernel.h"

struct inode_ref
inode_ref_of(const struct vnode *v)
{
    return (struct inode_ref){.mount = mount_number(v->mnt), .ino = v->ino};
}

struct vnode
inode_ref_node(const struct kernel *k, const struct inode_ref *r)
{
    struct mount *m = mount_nth(&k->vfs, r->mount);

    return (struct vnode){m, m ? r->ino : 0};
}
