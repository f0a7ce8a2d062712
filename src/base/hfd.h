/* Descriptors of the host. */
#ifndef BASE_HFD_H
#define BASE_HFD_H

#include <stdbool.h>
#include <stddef.h>

/* For CLEANUP; negative is fine, and what it is afterwards. */
void hfd_closep(int *hfd);
/* 0 or -errno, of which some was written. */
int hfd_write_all(int hfd, const void *p, size_t n);
/* Closed standard streams get a descriptor, so that what is opened later does
 * not get their numbers: programs would be given it. To use one is EBADF, as
 * before. */
bool hfd_fill_standard(void);

#endif
