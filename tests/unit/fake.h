/* Helpers for tests of file systems and terminals, which call operations
 * without system calls. */
#ifndef FAKE_H
#define FAKE_H

#include "world.h"

/* A child of `parent` (NULL: of init). Ends with the kernel. */
struct task *fake_task(struct kernel *k, struct task *parent);
/* t becomes the leader of a new session. */
void fake_setsid(struct task *t);
/* Mounts fs, or returns -errno. */
int fake_mount(struct kernel *k, const char *path, OWN struct fs *fs);

/* One transfer through the file's operations, as read and write do. */
int64_t fake_read(struct file *f, struct task *t, void *buf, size_t len);
int64_t fake_write(struct file *f, struct task *t, const char *text);
/* Does one read give exactly text? */
bool fake_reads(struct file *f, struct task *t, const char *text);

/* Opens `path` as t (NULL: root), or returns -errno in *ret_error. */
struct file *fake_open(struct kernel *k, struct task *t, const char *path,
                       uint32_t flags, int *ret_error);
/* Open descriptors of this process. */
int fake_count_hfds(void);

#endif
