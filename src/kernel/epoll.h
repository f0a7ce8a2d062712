/* Sets of watched files: epoll(7). Sets may watch sets, without cycles. */
#ifndef KERNEL_EPOLL_H
#define KERNEL_EPOLL_H

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct kernel;
struct task;

/* In the layout of the guest. */
struct epoll_event_k {
    uint32_t events, pad;
    uint64_t data;
};

/* Creates an empty set. -ENOMEM, -ENFILE. */
int epoll_new(struct kernel *k, OWN struct file **ret);
bool epoll_is(const struct file *f);

/* `fd` and its file identify the item. Errors as in epoll_ctl(2); -ENOMEM at
 * the memory limit. */
int epoll_add(struct file *ep, struct file *f, int fd,
              const struct epoll_event_k *ev);
int epoll_modify(struct file *ep, struct file *f, int fd,
                 const struct epoll_event_k *ev);
int epoll_remove(struct file *ep, struct file *f, int fd);

/* Collects up to max current events and returns their number. */
size_t epoll_collect(struct file *ep, struct epoll_event_k *out, size_t max);

/* Removes the items of f from all sets when its last reference is gone. */
void epoll_forget(struct file *f);

#endif
