/* Descriptors of the host. */
#ifndef BASE_HFD_H
#define BASE_HFD_H

#include <stdbool.h>
#include <stddef.h>

/* For CLEANUP. Accepts a negative descriptor, and leaves one behind. */
void hfd_closep(int *hfd);
/* Writes all bytes. Returns 0 or -errno; after an error, some bytes may have
 * been written. */
int hfd_write_all(int hfd, const void *p, size_t n);
/* Opens a placeholder for each closed standard stream. Otherwise a file that is
 * opened later would get its number and be passed to programs. Using the
 * placeholder fails with EBADF, like the closed stream. */
bool hfd_fill_standard(void);

#endif
