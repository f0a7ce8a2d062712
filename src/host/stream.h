/* Connections of the host, for struct host_ops: see base/host.h. */
#ifndef HOST_STREAM_H
#define HOST_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t stream_send(int hfd, const void *p, size_t len);
int64_t stream_recv(int hfd, void *p, size_t len, bool peeks);
int stream_shutdown(int hfd, int how);
int stream_accept(int hfd);
void stream_close(int hfd);

#endif
