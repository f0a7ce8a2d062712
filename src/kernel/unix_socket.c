/* AF_UNIX names: in the file system, abstract, or chosen by the system.
 *
 * A name in the file system is an inode of type S_IFSOCK, created by bind. The
 * socket is found by that inode, and holds it until it is freed. */
#include "kernel/kernel.h"
#include "kernel/socket.h"
#include "kernel/vfs/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_AT = offsetof(struct sockaddr_un, sun_path) };

static bool
unix_socket_is_abstract(const struct sock_addr *a)
{
    return !a->un.sun_path[0];
}

/* Copies the path as a string: that of the guest may have no NUL. */
static void
unix_socket_copy_path(const struct sock_addr *a, char *path, size_t size)
{
    size_t max = a->len - PATH_AT;
    size_t len = strnlen(a->un.sun_path, max < size ? max : size - 1);

    memcpy(path, a->un.sun_path, len);
    path[len] = 0;
}

/* FNV-1a over the bytes after the family. */
static struct list *
unix_socket_bucket_of_name(struct net *n, const struct sock_addr *a)
{
    uint32_t h = 2166136261u;

    for (size_t i = PATH_AT; i < a->len; i++)
        h = (h ^ a->bytes[i]) * 16777619u;
    return &n->names[h % NET_BUCKETS];
}

/* Names in the file system are found by inode, so they hash by its number. */
static struct list *
unix_socket_bucket_of_node(struct net *n, const struct vnode *v)
{
    return &n->names[v->ino % NET_BUCKETS];
}

/* Abstract names are compared with their length: they may contain NULs. */
static struct socket *
unix_socket_find_abstract(struct net *n, const struct sock_addr *a)
{
    LIST_FOR_EACH(it, unix_socket_bucket_of_name(n, a)) {
        struct socket *s = CONTAINER_OF(it, struct socket, bound);
        if (!s->node.mnt && s->local.len == a->len &&
            memcmp(s->local.bytes, a->bytes, a->len) == 0)
            return s;
    }
    return NULL;
}

/* Mounts of the same file system lead to the same socket. */
static struct socket *
unix_socket_find_node(struct net *n, const struct vnode *v)
{
    LIST_FOR_EACH(it, unix_socket_bucket_of_node(n, v)) {
        struct socket *s = CONTAINER_OF(it, struct socket, bound);
        if (s->node.mnt && s->node.ino == v->ino &&
            s->node.mnt->fs == v->mnt->fs)
            return s;
    }
    return NULL;
}

/* --- binding */

/* The socket is found by its inode later, so it may be renamed, and another
 * name of the inode leads to it. */
static int
unix_socket_bind_path(struct socket *s, struct task *t,
                      const struct sock_addr *addr)
{
    char path[sizeof addr->un.sun_path + 1];
    struct walk w;

    unix_socket_copy_path(addr, path, sizeof path);
    const struct at at = task_at(t, &t->cwd, path);
    int r = path_walk(&at, WALK_PARENT | WALK_NOFOLLOW, &w);
    if (r < 0)
        return r;
    if (w.node.mnt || !w.len)
        return -EADDRINUSE;
    if (w.slash)
        return -ENOENT;
    if (s->is_bound)
        return -EINVAL;
    r = vfs_create(&at, &w, S_IFSOCK | (0777 & ~t->umask));
    if (r < 0)
        return r == -EEXIST ? -EADDRINUSE : r;
    vnode_hold(&w.node);
    s->node = w.node;
    s->local = *addr;
    s->local.len = (uint32_t)(PATH_AT + strlen(path) + 1);
    s->local.bytes[s->local.len - 1] = 0;
    list_push_back(unix_socket_bucket_of_node(s->kernel->net, &w.node),
                   &s->bound);
    return 0;
}

/* Names are five hexadecimal digits, as on Linux, given out in turn. */
static int
unix_autobind(struct socket *s)
{
    struct net *n = s->kernel->net;
    struct sock_addr a = {.un.sun_family = AF_UNIX};
    char name[8];

    if (s->is_bound)
        return 0;
    do {
        (void)snprintf(name, sizeof name, "%05x", n->next_name++ & 0xfffff);
        memcpy(a.un.sun_path + 1, name, 5);
        a.len = PATH_AT + 6;
    } while (unix_socket_find_abstract(n, &a));
    s->local = a;
    s->is_bound = true;
    list_push_back(unix_socket_bucket_of_name(n, &a), &s->bound);
    return 0;
}

/* An address without a path asks for an abstract name of the system's
 * choice. */
static int
unix_bind(struct socket *s, struct task *t, const struct sock_addr *addr)
{
    int r = 0;

    if (addr->len < PATH_AT || addr->un.sun_family != AF_UNIX ||
        addr->len > sizeof addr->un)
        return -EINVAL;
    if (addr->len == PATH_AT)
        return s->is_bound ? -EINVAL : unix_autobind(s);
    if (!unix_socket_is_abstract(addr)) {
        r = unix_socket_bind_path(s, t, addr);
    } else if (s->is_bound) {
        r = -EINVAL;
    } else if (unix_socket_find_abstract(s->kernel->net, addr)) {
        r = -EADDRINUSE;
    } else {
        s->local = *addr;
        list_push_back(unix_socket_bucket_of_name(s->kernel->net, addr),
                       &s->bound);
    }
    s->is_bound |= r == 0;
    return r;
}

/* A Unix socket must have a name to listen. */
static int
unix_listen(struct socket *s)
{
    return s->is_bound ? 0 : -EINVAL;
}

/* The inode stays, as on Linux: connecting to it is refused from now on. */
static void
unix_unbind(struct socket *s)
{
    list_remove(&s->bound);
    if (s->node.mnt)
        vnode_release(&s->node);
    s->node.mnt = NULL;
    s->is_bound = false;
}

/* --- finding */

/* Connecting needs the right to write to the socket's inode. */
static int
unix_socket_find_path(struct socket *s, struct task *t,
                      const struct sock_addr *addr, struct socket **ret)
{
    char path[sizeof addr->un.sun_path + 1];
    struct walk w;
    struct attr a;

    unix_socket_copy_path(addr, path, sizeof path);
    int r = task_walk(t, &t->cwd, path, 0, &w);
    if (r < 0)
        return r;
    r = vnode_getattr(&w.node, &a);
    if (r == 0)
        r = vfs_access(&t->as.cred, &a, W_OK);
    if (r < 0)
        return r;
    *ret = S_ISSOCK(a.mode) ? unix_socket_find_node(s->kernel->net, &w.node)
                            : NULL;
    return 0;
}

/* A socket of another type is an error of its own (EPROTOTYPE). */
static int
unix_find(struct socket *s, struct task *t, struct sock_addr *addr,
          struct socket **ret)
{
    struct socket *found = NULL;
    int r = 0;

    if (addr->len <= PATH_AT || addr->len > sizeof addr->un ||
        addr->un.sun_family != AF_UNIX)
        return -EINVAL;
    if (unix_socket_is_abstract(addr))
        found = unix_socket_find_abstract(s->kernel->net, addr);
    else
        r = unix_socket_find_path(s, t, addr, &found);
    if (r < 0)
        return r;
    if (!found)
        return -ECONNREFUSED;
    if (found->type != s->type)
        return -EPROTOTYPE;
    *ret = found;
    return 0;
}

/* The name of the peer may be empty, for a client that was never bound. */
static void
unix_connected(struct socket *s)
{
    if (s->peer)
        s->remote = s->peer->local;
}

static void
unix_view(const struct sock_addr *addr, int domain, struct sock_addr *ret)
{
    (void)domain;
    *ret = *addr;
}

const struct sock_family unix_family = {
    .domain = AF_UNIX,
    .bind = unix_bind,
    .autobind = unix_autobind,
    .listen = unix_listen,
    .unbind = unix_unbind,
    .find = unix_find,
    .connected = unix_connected,
    .view = unix_view,
};
