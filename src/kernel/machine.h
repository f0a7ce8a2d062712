/* What the kernel needs of the engine, and the engine of the kernel.
 *
 * A program is compiled code; a machine is one running copy of it with its
 * own memory, on its own stack (a fiber). The kernel calls the engine through
 * struct machine_ops; the engine calls the kernel through the functions at
 * the end, always from within `resume`. */
#ifndef KERNEL_MACHINE_H
#define KERNEL_MACHINE_H

#include "base/counted.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct kernel;
struct thread;

typedef uint32_t gaddr; /* an address in guest memory: never a pointer */

/* Engines embed it as the first member of theirs. Shared by sandboxes and OS
 * threads: the count is atomic. */
struct program {
    struct counted ref;
    /* Of one that is being compiled: readable when that has ended. */
    int hfd;
};

static inline struct program *
program_get(struct program *p)
{
    (void)counted_get(&p->ref);
    return p;
}

/* NULL is fine. */
static inline void
program_put(OWN struct program *p)
{
    counted_put((struct counted *)p);
}
DEFINE_CLEANUP(struct program *, program_put)

/* Waits for the compiling of p to end: 0; -EINTR when kick_hfd (-1: none) is
 * readable, -ETIMEDOUT at deadline_ns of the host's monotonic clock (0:
 * none). */
int program_await(const struct program *p, int kick_hfd, int64_t deadline_ns);

/* Engines embed it as the first member of theirs. */
struct machine {
    const struct machine_ops *ops;
    struct thread *thread;
    uint8_t *base; /* guest memory; valid once the machine has run */
    uint64_t size; /* bytes of it; refresh with ops->refresh after a resume */
    /* In sys.next, nothing below live_from (dead stack) nor from dead_from to
     * dead_to (what fork unwinds into) is in use. */
    uint64_t live_from, dead_from, dead_to;
    int32_t status; /* given to sys.next */
};

/* Why `resume` came back. */
enum machine_event {
    MACHINE_WAITS,   /* in a call that waits: resume after thread_wake */
    MACHINE_YIELDED, /* its time slice is over */
    MACHINE_FORKS,   /* unwound in sys.fork: call `fork` (or `fork_fail`) */
    MACHINE_NEXT,    /* gave itself up in sys.next */
    /* The machine is done: */
    MACHINE_LEFT,    /* thread->leaving was set by the kernel in a call */
    MACHINE_ENDED,   /* _start returned */
    MACHINE_TRAPPED, /* see machine_trap */
};

/* A trap as Linux would report it. */
struct machine_trap {
    int signal;       /* SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGKILL */
    char reason[120]; /* "out of bounds memory access", ... */
};

/* A file of the host, mapped whole. */
struct host_file {
    const uint8_t *bytes;
    size_t len;
    /* What tells it from all other files and from all that it was and will
     * be. Not so while it is young: a change might leave the times as they
     * are. */
    uint64_t identity[8];
    bool is_settled;
};

/* Where the bytes of a program come from. */
struct program_source {
    const uint8_t *bytes;
    size_t len;
    const char *name; /* for messages */
    bool is_trusted;  /* from the root image or the host: may be cached */
    bool cached_only; /* -ENOENT for what would have to be compiled */
    /* If the bytes lie in it, they need not be read to be recognised. NULL:
     * there is none. */
    const struct host_file *file;
};

struct machine_ops {
    /* Finds the compiled code, or compiles. -ENOEXEC: not a program (the
     * reason is in `why`, cut to size), -ENOMEM; -EAGAIN: too many that are
     * not trusted are being compiled. -EINPROGRESS: *ret is being compiled;
     * load again when its hfd is readable, and put it after that: putting
     * it before ends the compiling. */
    int (*load)(struct engine *e, const struct program_source *src,
                OWN struct program **ret, char *why, size_t why_size);
    /* CPU time that the compiling of such a program has taken so far. */
    int64_t (*cost_ns)(struct program *p);
    /* Cheap: the instance is made by the first resume. */
    int (*create)(struct engine *e, struct program *p, struct thread *th,
                  OWN struct machine **ret);
    enum machine_event (*resume)(struct machine *m, struct machine_trap *trap);
    /* After MACHINE_FORKS: makes `child` (created, never run) a copy; both
     * go on from sys.fork at their next resume, with pid and 0. -ENOMEM,
     * -EAGAIN: no copy was made; use fork_return to tell the parent. */
    int (*fork)(struct machine *parent, struct machine *child);
    /* The result of sys.fork for the next resume. */
    void (*fork_return)(struct machine *m, int32_t result);
    /* Re-reads m->size (the guest may have grown its memory). */
    void (*refresh)(struct machine *m);
    /* Ends the current slice of whichever machine of this kernel runs now.
     * May be called from any OS thread or signal handler. */
    void (*interrupt)(struct engine *e);
    /* Makes the instance without entering it, so that memory can be laid
     * in; makes its memory larger. -ENOMEM. */
    int (*prepare)(struct machine *m);
    int (*grow)(struct machine *m, uint64_t bytes);
    /* After `grow`, once: `len` bytes from `at` on, in what was added, are
     * those of the file, and the machine's own where it writes to them. Both
     * are multiples of the host's page. -EINVAL, -ENOMEM: nothing changed. */
    int (*map)(struct machine *m, int hfd, uint64_t at, uint64_t len);
    /* After MACHINE_NEXT: a module, made from the source of m's program, that
     * begins where m is now, with the memory of m as its data. `note` comes
     * back from `note`. -EINVAL: the source is not one we can rewrite. */
    int (*freeze)(struct machine *m, const struct program_source *src,
                  const void *note, size_t note_len, OWN uint8_t **ret,
                  size_t *ret_len);
    /* The note of a frozen program, or NULL. */
    const void *(*note)(struct program *p, size_t *ret_len);
    /* Memory that its native stack takes, in steps of 64 KiB without the
     * first; 0 where the engine cannot tell. It grows with the depth that was
     * ever reached, and is given up in sys.next. Not within its resume. */
    uint64_t (*stack_bytes)(struct machine *m);
    /* Never from within its own resume. NULL is fine. */
    void (*free)(OWN struct machine *m);
};

/* --- called by the engine, within resume. A machine may be done before it
 * notices: memory.grow can end its task. Its calls do nothing then. */

/* A system call of the sys ABI: >= 0, -errno, -EWAIT, -ERESTARTSYS. When it
 * sets thread->leaving, the machine must not go on: resume returns
 * MACHINE_LEFT. */
int32_t thread_syscall(struct thread *th, uint32_t nr, const uint32_t a[6]);
/* sys.wait: false if the thread is ready to go on at once. */
bool thread_must_wait(struct thread *th);
/* True if the call that was made last has ended the thread's machine. */
bool thread_is_leaving(const struct thread *th);
/* sys.args_size, args_get, sigword, signext; the last may set
 * thread->leaving. */
uint32_t thread_args_size(struct thread *th);
void thread_args_get(struct thread *th, gaddr at, uint32_t size);
void thread_sigword(struct thread *th, gaddr at);
int32_t thread_signext(struct thread *th, gaddr at);
/* sys.fork: 0, or -errno (limits; or in a vfork child) and no unwinding. */
int thread_may_fork(struct thread *th);
/* memory.grow from `old` to `new` bytes: false refuses it. */
bool thread_may_grow(struct thread *th, uint64_t old_bytes, uint64_t new_bytes);

/* A function of wasi_snapshot_preview1 by its row in wasi.def. Arguments as
 * the raw 64-bit slots of the call. Returns a WASI errno, or -EWAIT: wait and
 * make the same call again; may set thread->leaving. */
int32_t thread_wasi(struct thread *th, unsigned row, const uint64_t *args);

#endif
