/* A kernel for unit tests: an empty root file system, and processes whose
 * machines have memory but never run. */
#ifndef FAKE_H
#define FAKE_H

#include "kernel/kernel.h"

enum { FAKE_MEMORY_BYTES = 65536 };

/* With a virtual clock. NULL: out of memory. End with kernel_free. */
struct kernel *fake_kernel(void);
/* A child of `parent` (NULL: of init), leading no session of its own. Ends
 * with the kernel. NULL: out of memory. */
struct task *fake_task(struct kernel *k, struct task *parent);
/* t becomes the leader of a new session. */
void fake_setsid(struct task *t);
/* Mounts fs, or returns -errno. */
int fake_mount(struct kernel *k, const char *path, OWN struct fs *fs);

/* Guest memory of t at `at`. */
void *fake_memory(struct task *t, gaddr at);

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
