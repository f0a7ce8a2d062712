/* A kernel for unit tests, and processes in it.
 *
 * The kernel runs on fake machines. A test makes the calls of a process itself
 * (SYS), so it sees -EWAIT, and decides when a call is repeated. */
#ifndef WORLD_H
#define WORLD_H

#include "fake_machine.h"
#include "kernel/kernel.h"
#include "test.h"

/* Creates a kernel with a file system in memory and a virtual clock; NULL if
 * out of memory. kernel_free ends it. */
struct kernel *world_new(void);
/* Like world_new, on an engine of the test. */
struct kernel *world_new_on(struct engine *e);
/* Like world_new_on, with a real clock. */
struct kernel *world_new_live(struct engine *e);
/* Mounts fs, or returns -errno. */
int world_mount(struct kernel *k, const char *path, OWN struct fs *fs);
/* Mounts /dev and /proc. Returns 0 or -errno. */
int world_mount_system(struct kernel *k);
/* Returns the root directory. */
struct vnode world_root(struct kernel *k);

/* Creates a child of `parent` (NULL: of init) with guest memory, which can make
 * calls. It is not queued to run, and ends with the kernel. NULL: out of
 * memory. */
struct task *world_child(struct kernel *k, struct task *parent);
/* Like world_child, with init as the parent. */
struct task *world_task(struct kernel *k);
/* Creates another thread of t, which shares its memory. Calls are those of the
 * thread that thread_switch has selected last. NULL: clone has failed. */
struct thread *world_thread(struct task *t);
/* Makes t the leader of a new session. */
void world_setsid(struct task *t);
/* Runs everything that is runnable, once each, without sleeping. */
void world_run(struct kernel *k);
/* Runs until no task but init is left. */
void world_run_all(struct kernel *k);

/* Makes a call as the task would; up to six arguments. */
#define SYS(t, nr, ...) world_call(t, nr, (const uint32_t[6]){__VA_ARGS__})
int32_t world_call(struct task *t, uint32_t nr, const uint32_t args[6]);
/* Returns true if the wait of the task has ended. */
bool world_is_woken(const struct task *t);
/* Returns guest memory at `at`. */
void *world_at(struct task *t, gaddr at);
/* Puts a string into guest memory; returns `at`. */
gaddr world_str(struct task *t, gaddr at, const char *s);
/* Returns the memory that is charged beside the fees of the processes. */
uint64_t world_memory(const struct kernel *k);
/* Advances the clock, and fires the timers that are due. */
void world_sleep_ns(struct kernel *k, int64_t ns);

/* Make one transfer through the file's operations, as read and write do. */
int64_t world_read(struct file *f, struct task *t, void *buf, size_t len);
int64_t world_write(struct file *f, struct task *t, const char *text);
/* Returns true if one read returns exactly `text`. */
bool world_reads(struct file *f, struct task *t, const char *text);
/* Walks `path` from `base` as t (NULL: the host); see path_walk. */
int world_walk(struct kernel *k, struct task *t, const struct vnode *base,
               const char *path, unsigned flags, struct walk *ret);
/* Opens `path` as t (NULL: root), or returns -errno in *ret_error. */
struct file *world_open(struct kernel *k, struct task *t, const char *path,
                        uint32_t flags, int *ret_error);
/* Creates a file, with a type in its mode, as t (NULL: root). Returns 0 or
 * -errno. */
int world_make(struct kernel *k, struct task *t, const char *path,
               uint32_t mode);
/* Creates a regular file with this content and mode 0755. */
int world_file(struct kernel *k, const char *path, const char *text);
/* Returns the number of open descriptors of this process, to find leaks. */
int world_count_hfds(void);

/* Call numbers: NR_dup, ... */
enum {
#define SYSCALL(nr, name, args, support, missing)        NR_##name = (nr),
#define SYSCALL_AS(nr, name, fn, args, support, missing) NR_##name = (nr),
#include "kernel/syscalls.def"
#undef SYSCALL
};

#endif
