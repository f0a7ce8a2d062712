/* Small files of the kernel: cgroups, /proc. */
#ifndef SUPERVISOR_FILE_H
#define SUPERVISOR_FILE_H

#include <stddef.h>

/* Reads the beginning of the file as a string. Returns 0 or -errno. */
int file_read_text(int dir_hfd, const char *name, char *buf, size_t size);
/* Writes in a single call, as these files require. Returns 0 or -errno. */
int file_write_text(int dir_hfd, const char *name, const char *text);

#endif
