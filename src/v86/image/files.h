/* Files of the guest, for the host: the part of the agent that needs no
 * shell. */
#ifndef V86_IMAGE_FILES_H
#define V86_IMAGE_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct agent;

/* Serves a message about files; `p` ends with a NUL that `len` does not count.
 * Returns false for any other message. */
bool files_serve(struct agent *a, uint32_t type, uint8_t *p, uint32_t len);

/* Send a message to the host (agent.c). */
void port_send(struct agent *a, uint32_t type, const void *p, uint32_t len);
void port_result(struct agent *a, int error);

#endif
