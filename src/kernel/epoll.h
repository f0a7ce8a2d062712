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

/* As the guest lays it out. */
struct epoll_event_k {
    uint32_t events, pad;
    uint64_t data;
};

int epoll_new(struct kernel *k, OWN struct file **ret);
bool epoll_is(const struct file *f);

/* `fd` names the item together with its file. Errors as epoll_ctl(2);
 * -ENOMEM at the memory limit. */
int epoll_add(struct file *ep, struct file *f, int fd,
              const struct epoll_event_k *ev);
int epoll_modify(struct file *ep, struct file *f, int fd,
                 const struct epoll_event_k *ev);
int epoll_remove(struct file *ep, struct file *f, int fd);

/* Up to max events that hold now: how many. */
size_t epoll_collect(struct file *ep, struct epoll_event_k *out, size_t max);

/* The last reference to f is gone: its items vanish from all sets. */
void epoll_forget(struct file *f);

#endif
