/* The interface between the kernel and the engine.
 *
 * A program is compiled code. A machine is one running copy of it with its own
 * memory and its own stack (a fiber). The kernel calls the engine through
 * struct machine_ops. The engine calls the kernel through the functions at the
 * end, always from within `resume`. */
#ifndef KERNEL_MACHINE_H
#define KERNEL_MACHINE_H

#include "base/counted.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct host_ops;
struct kernel;
struct thread;

typedef uint32_t gaddr; /* an address in guest memory: never a pointer */

/* Engines embed it as their first member. Sandboxes and OS threads share it:
 * the count is atomic. */
struct program {
    struct counted ref;
    /* While it is being compiled: becomes readable at the end. */
    int hfd;
};

static inline struct program *
program_get(struct program *p)
{
    (void)counted_get(&p->ref);
    return p;
}

/* Accepts NULL. */
static inline void
program_put(OWN struct program *p)
{
    counted_put((struct counted *)p);
}
DEFINE_CLEANUP(struct program *, program_put)

/* Waits until p is compiled: 0. -EINTR when kick_hfd (-1: none) is readable,
 * -ETIMEDOUT at deadline_ns of the host's monotonic clock (0: none). */
int program_await(const struct host_ops *host, const struct program *p,
                  int kick_hfd, int64_t deadline_ns);

/* Engines embed it as their first member. */
struct machine {
    const struct machine_ops *ops;
    struct thread *thread;
    uint8_t *base; /* guest memory; valid once the machine has run */
    uint64_t size; /* bytes of it; refresh with ops->refresh after a resume */
    /* In sys.next, memory below live_from (dead stack) and from dead_from to
     * dead_to (the buffer that fork unwinds into) is unused. */
    uint64_t live_from, dead_from, dead_to;
    uint64_t share_from; /* memory from here on can be shared */
    int32_t status;      /* passed to sys.next */
    /* Set before a resume: its slice ends after a fixed number of loops and
     * calls of the program, with slice_is_over, and not by the time. */
    bool is_counted, slice_is_over;
};

/* The reason why `resume` returned. */
enum machine_event {
    MACHINE_WAITS,   /* in a blocking call: resume after thread_wake */
    MACHINE_YIELDED, /* its time slice is over */
    MACHINE_FORKS,   /* unwound in sys.fork: call `fork` or `fork_return` */
    MACHINE_NEXT,    /* yielded in sys.next */
    /* The machine has ended: */
    MACHINE_LEFT,    /* thread->leaving was set by the kernel in a call */
    MACHINE_ENDED,   /* _start returned */
    MACHINE_TRAPPED, /* see machine_trap */
};

/* A trap in the form that Linux would report. */
struct machine_trap {
    int signal;       /* SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGKILL */
    int code;         /* si_code: SEGV_MAPERR, ... */
    char reason[120]; /* "out of bounds memory access", ... */
    gaddr addr;       /* of the access; 0: unknown, or none */
};

/* A file of the host, mapped completely. */
struct host_file {
    const uint8_t *bytes;
    size_t len;
    /* Identifies this version of the file (device, inode, ctime, size, ...).
     * Not reliable within 2 s of the last change, because a second change could
     * leave the times as they are. */
    uint64_t identity[8];
    bool is_settled;
};

/* The source of a program's bytes. */
struct program_source {
    const uint8_t *bytes;
    size_t len;
    const char *name; /* for messages */
    bool is_trusted;  /* from the root image or the host: may be cached */
    bool cached_only; /* -ENOENT if it would have to be compiled */
    /* If the bytes are part of this file, they can be recognised without being
     * read. Or NULL. */
    const struct host_file *file;
};

/* The entry of a further thread: func(arg), on the stack that ends at `stack`.
 */
struct machine_entry {
    uint32_t func, arg, stack;
};

/* A range of memory that is shared. All are multiples of 4 KiB. */
struct machine_share {
    uint8_t *bytes;
    uint64_t at, len;
};

/* The functions of an engine. All of them are called on the OS thread that runs
 * the kernel, except `interrupt`. Errors are -errno, and leave the machine as
 * it was. */
struct machine_ops {
    /* Finds the compiled code, or compiles. -ENOEXEC: not a program (the reason
     * is in `why`, cut to its size). -ENOMEM. -EAGAIN: too many untrusted
     * programs are being compiled.
     *
     * -EINPROGRESS: *ret is being compiled. Load again when its hfd is
     * readable, and put it after that; putting it earlier ends the compilation.
     */
    int (*load)(struct engine *e, const struct program_source *src,
                OWN struct program **ret, char *why, size_t why_size);
    /* Returns the CPU time used so far to compile this program. */
    int64_t (*cost_ns)(struct program *p);
    /* Cheap: the first resume creates the instance. */
    int (*create)(struct engine *e, struct program *p, struct thread *th,
                  OWN struct machine **ret);
    /* Cheap: makes another machine in the instance of m, with the same memory
     * and a native stack of its own, for another thread. It begins in
     * wasmsand_thread at its first resume. The instance goes when the last of
     * its machines is freed. -ENOSYS: the program has no such entry. -EAGAIN,
     * -ENOMEM. */
    int (*spawn)(struct machine *m, struct thread *th,
                 const struct machine_entry *entry, OWN struct machine **ret);
    /* Drops what m runs, after a trap for example: m begins in wasmsand_fault
     * at its next resume. Its stack ends at `stack`; 0: its stack pointer
     * stays. -ENOSYS: the program has no such entry. */
    int (*fault)(struct machine *m, uint32_t stack);
    /* Runs the machine until it waits, yields, forks or ends. *trap is set only
     * with MACHINE_TRAPPED. */
    enum machine_event (*resume)(struct machine *m, struct machine_trap *trap);
    /* After MACHINE_FORKS: makes `child` (created, never run) a copy. Both
     * continue from sys.fork at their next resume, with pid and 0. -ENOMEM,
     * -EAGAIN: no copy was made; use fork_return to notify the parent. */
    int (*fork)(struct machine *parent, struct machine *child);
    /* Sets the result of sys.fork for the next resume. */
    void (*fork_return)(struct machine *m, int32_t result);
    /* Re-reads m->size (the guest may have grown its memory). */
    void (*refresh)(struct machine *m);
    /* Ends the current slice of the machine of this kernel that runs now. May
     * be called from any OS thread or signal handler. */
    void (*interrupt)(struct engine *e);
    /* prepare creates the instance without entering it, so that its memory can
     * be filled. grow enlarges its memory. -ENOMEM. */
    int (*prepare)(struct machine *m);
    int (*grow)(struct machine *m, uint64_t bytes);
    /* After `grow`, once: maps `len` bytes of the file at `at`, in the added
     * memory, copy-on-write. Both are multiples of the host's page size.
     * -EINVAL, -ENOMEM: nothing has changed. */
    int (*map)(struct machine *m, int hfd, uint64_t at, uint64_t len);
    /* share_new returns zeroed memory of `len` bytes, a multiple of 4 KiB, that
     * machines can share; share_free frees it after all of them have unmapped
     * it. -ENOMEM. */
    int (*share_new)(struct engine *e, uint64_t len, uint8_t **ret);
    void (*share_free)(struct engine *e, uint8_t *bytes, uint64_t len);
    /* Maps such memory, or a part of it, into the memory of m; with bytes NULL,
     * zeros of its own instead. `more` is the change in the number of shared
     * ranges, because the host has a limit for all machines together. -EINVAL:
     * below share_from or beyond the end. -ENOMEM. On failure, zeros may be
     * there. */
    int (*share)(struct machine *m, const struct machine_share *s, int more);
    /* After MACHINE_NEXT: writes a module, made from the source of m's program,
     * that starts in the current state of m, with its memory as data. `section`
     * becomes a custom section of it. -EINVAL: the source cannot be rewritten.
     */
    int (*freeze)(struct machine *m, const struct program_source *src,
                  const void *section, size_t section_len, OWN uint8_t **ret,
                  size_t *ret_len);
    /* Returns the custom section of a frozen program, or NULL. */
    const void *(*section)(struct program *p, size_t *ret_len);
    /* Returns the memory use of its native stack, in steps of 64 KiB without
     * the first; 0 if the engine cannot measure it. It is a high-water mark,
     * which sys.next resets. Must not be called within its resume. */
    uint64_t (*stack_bytes)(struct machine *m);
    /* Must not be called from within its own resume. Accepts NULL. */
    void (*free)(OWN struct machine *m);
};

/* --- called by the engine, within resume
 *
 * A machine may have ended before it notices: memory.grow can end its task. Its
 * calls then do nothing. */

/* A system call of the sys ABI: >= 0, -errno, -EWAIT, -ERESTARTSYS. If it sets
 * thread->leaving, the machine must not continue: resume returns MACHINE_LEFT.
 */
int32_t thread_syscall(struct thread *th, uint32_t nr, const uint32_t a[6]);
/* sys.wait: returns false if the thread can continue at once. */
bool thread_must_wait(struct thread *th);
/* True if the call that was made last has ended the thread's machine. */
bool thread_is_leaving(const struct thread *th);
/* sys.args_size, args_get, sigword, signext; the last may set
 * thread->leaving. */
uint32_t thread_args_size(struct thread *th);
void thread_args_get(struct thread *th, gaddr at, uint32_t size);
void thread_sigword(struct thread *th, gaddr at);
int32_t thread_signext(struct thread *th, gaddr at);
/* sys.fork: returns 0, or -errno (limits; or in a vfork child) without
 * unwinding. */
int thread_may_fork(struct thread *th);
/* Finds the first shared range of the memory of th that ends beyond `at`.
 * Returns false if there is none. */
bool thread_next_share(struct thread *th, uint64_t at,
                       struct machine_share *ret);
/* memory.grow from `old` to `new` bytes: returns false to refuse it. */
bool thread_may_grow(struct thread *th, uint64_t old_bytes, uint64_t new_bytes);

#endif
