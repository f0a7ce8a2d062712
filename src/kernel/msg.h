/* Messages of the guest: addresses, headers and ancillary data. */
#ifndef KERNEL_MSG_H
#define KERNEL_MSG_H

#include "kernel/machine.h"
#include "kernel/socket.h"

#include <stdbool.h>
#include <stdint.h>

/* struct msghdr of the guest. */
struct guest_msghdr {
    gaddr name;
    uint32_t namelen;
    gaddr iov;
    uint32_t iovlen;
    gaddr control;
    uint32_t controllen;
    uint32_t flags;
};

/* Copies an address of `len` bytes. -EINVAL: longer than any address.
 * -EFAULT. */
int sock_addr_from_guest(struct task *t, gaddr at, uint32_t len,
                         struct sock_addr *ret);
/* Stores as much of the address as *len allows; *len becomes the whole length.
 */
int sock_addr_to_guest(struct task *t, gaddr at, uint32_t *len,
                       const struct sock_addr *addr);
/* Like sock_addr_to_guest, with the length in guest memory at len_at. */
int sock_addr_answer(struct task *t, gaddr at, gaddr len_at,
                     const struct sock_addr *addr);

/* Reads the control messages of a sendmsg. Missing values are those of the
 * task. */
int scm_from_guest(struct task *t, const struct socket *s,
                   const struct guest_msghdr *h, struct scm *ret);
/* Writes the control messages of a recvmsg, installs the files, and updates
 * h->controllen. Returns true if something did not fit. */
bool scm_to_guest(struct task *t, const struct socket *s, struct scm *c,
                  struct guest_msghdr *h, bool cloexec);

#endif
