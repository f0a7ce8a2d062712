/* Small files that the kernel makes up: cgroups, /proc. */
#ifndef SUPERVISOR_FILE_H
#define SUPERVISOR_FILE_H

#include <stddef.h>

/* The file's beginning as a string. 0 or -errno. */
int file_read(int dir_hfd, const char *name, char *buf, size_t size);
/* In one write, as these files want it. 0 or -errno. */
int file_write(int dir_hfd, const char *name, const char *text);

#endif
