/* Descriptors of the host. */
#ifndef BASE_HFD_H
#define BASE_HFD_H

#include <stddef.h>

/* For CLEANUP; negative is fine. */
void hfd_closep(const int *hfd);
/* 0 or -errno, of which some was written. */
int hfd_write_all(int hfd, const void *p, size_t n);

#endif
