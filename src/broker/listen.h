/* Listening sockets of the host, for ports of sandboxes. */
#ifndef BROKER_LISTEN_H
#define BROKER_LISTEN_H

#include "net/address.h"

#include <stdint.h>

/* Listens on an address of the host and a port, 0 for any free one. Returns the
 * descriptor, which does not block, and its port. -EINVAL: the text is no
 * address. -errno */
int broker_listen(const char *address, uint16_t port, uint16_t *ret_port);
/* Writes the address that a socket is bound to. */
void broker_listen_address(int hfd, char ret[ADDRESS_TEXT_BYTES],
                           uint16_t *ret_port);

#endif
