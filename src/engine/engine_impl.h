/* What the files of the engine share.
 *
 * Locks, none of which is held while another is taken: engine.programs_lock,
 * ticker.lock, reaper.lock, remote.lock; and compilation.lock, held around the
 * first, the last and publisher.lock. */
#ifndef ENGINE_ENGINE_IMPL_H
#define ENGINE_ENGINE_IMPL_H

#include "base/blake2b.h"
#include "base/list.h"
#include "engine/engine.h"
#include "engine/limiter.h"
#include "engine/shim.h"
#include "kernel/task.h"

#include <pthread.h>
#include <wasmtime.h>

#define PROGRAM_BUCKETS 64
#define WASM_PAGE_SHIFT 16
/* Elements of a function table: of Go programs, all functions are in it. */
#define TABLE_ELEMENTS 100000

/* --- ticker.c: ends time slices by incrementing the epoch; sleeps while no
 * machine runs, and starts with the first that does. */
struct ticker {
    pthread_t os_thread; /* if has_thread */
    wasm_engine_t *wasm;
    uint32_t tick_us;
    _Atomic uint32_t running; /* machines inside resume */
    _Atomic bool is_parked;

    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic bool has_thread, stops; /* written under lock */
};

void ticker_init(struct ticker *t, wasm_engine_t *wasm, uint32_t tick_us);
void ticker_fini(struct ticker *t);
void ticker_unpark(struct ticker *t);
/* False: the host refuses its thread; what runs would never give way. */
bool ticker_start(struct ticker *t);

static inline bool
ticker_is_there(struct ticker *t)
{
    return t->has_thread || ticker_start(t);
}

static inline void
ticker_enter(struct ticker *t)
{
    t->running++;
    if (t->is_parked)
        ticker_unpark(t);
}

static inline void
ticker_leave(struct ticker *t)
{
    t->running--;
}

/* --- reaper.c: frees large machines on a thread of its own. */
struct engine_machine;

struct reaper {
    pthread_t os_thread; /* if has_thread */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct engine_machine *dead; /* by next_dead */
    bool has_thread, stops;
};

void reaper_init(struct reaper *r);
void reaper_fini(struct reaper *r); /* after all have been freed */
void reaper_add(struct reaper *r, OWN struct engine_machine *m);

/* --- pagemap.c: which pages of our own memory were written to. */
struct pagemap {
    int hfd; /* -1: the host cannot tell */
    int pid; /* of the process it tells about: not that of a child of ours */
};

#define PAGE_RANGES 64
struct page_range { /* as Linux fills it in: addresses of ours */
    uint64_t start, end, categories;
};

void pagemap_init(struct pagemap *p);
void pagemap_fini(struct pagemap *p);
/* The first ranges in *at to end of pages that are no longer as they were
 * mapped; moves *at behind what was looked at. Their number, or -errno. */
int pagemap_written(const struct pagemap *p, const uint8_t **at,
                    const uint8_t *end, struct page_range ret[PAGE_RANGES]);

/* --- stack.c: the host's memory that native stacks take. */
struct stacks {
    size_t slot_bytes; /* of one and its guard; 0: nobody can tell */
    size_t page;
    uintptr_t top; /* of any of them */
};

/* True if the host says which pages are in memory. */
bool stacks_can_tell(void);
/* stack_bytes as given to wasmtime. */
void stacks_init(struct stacks *s, wasm_engine_t *wasm, size_t stack_bytes);

/* --- compiler.c: the processes that compile. */
struct compiler {
    int hfd;                  /* their executable; -1: there is none */
    _Atomic uint32_t running; /* for programs that are not trusted */
};

/* path NULL: there is none. */
int compiler_init(struct compiler *c, const char *path);
void compiler_fini(struct compiler *c);
/* The same file, or -errno for -1, under a number that is free in the new
 * process too. */
int compiler_hfd(OWN int hfd);
/* Starts the executable with one argument: its id, or -errno. It has these n
 * descriptors (-1: /dev/null), then its executable, and nothing else. */
pid_t compiler_spawn(const struct compiler *c, const char *word,
                     const int *hfds, int n);
/* Waits for the end of such a process: its status as of waitpid, or -ECHILD:
 * the host ignores SIGCHLD, nobody can tell. */
int compiler_reap(pid_t pid, int64_t *ret_cpu_ns);
/* What became of a module, from the status of its process, which is gone, and
 * the file it has written to. 0: that is the code; -ENOEXEC. */
int compiler_outcome(int status, int out_hfd, bool *ret_is_final, char *why,
                     size_t why_size);

/* --- compiler_remote.c: the process that compiles for a closed engine; its
 * own part is compiler_serve.c. Over a socket for each program: an order with
 * its module, then one answer, with the descriptor of the code if there is any.
 */
enum { REMOTE_SLOTS = 8, REMOTE_FIRST_HFD = 3, REMOTE_WHY_BYTES = 200 };
enum remote_op { REMOTE_COMPILE = 1, REMOTE_CANCEL };

struct remote_order {
    uint32_t op, len;
};

struct remote_answer {
    int32_t error; /* 0 or -errno */
    bool is_final; /* the same module would fail again */
    int64_t cpu_ns;
    uint64_t len;
    char why[REMOTE_WHY_BYTES];
};

struct remote {
    bool is_there;
    pid_t pid;
    pthread_mutex_t lock;
    struct {
        int hfd;
        bool is_taken;
        bool is_left; /* its answer will come, and is for nobody */
    } slot[REMOTE_SLOTS];
};

/* Waits until the process has sealed itself. 0 or -errno. */
int remote_start(struct remote *m, const struct compiler *c);
void remote_fini(struct remote *m);
/* A slot, whose descriptor is readable once it is compiled; -EAGAIN: none is
 * free; -EIO: the process is gone. */
int remote_order(struct remote *m, const uint8_t *module, size_t len);
/* When it is readable; as often as you like. -EIO: the process is gone. */
int remote_take(struct remote *m, int slot, struct remote_answer *ret,
                OWN int *ret_code_hfd);
/* Whatever became of it. */
void remote_leave(struct remote *m, int slot);

/* --- code.c: compiled code of guests, as it lies in a file. */
struct code {
    const void *p;
    size_t len;
    _Atomic size_t *total; /* where it counts; NULL: nowhere */
};

/* To be read only. */
int code_map(int hfd, size_t len, OWN struct code *ret);
void code_count(struct code *c, _Atomic size_t *total);
void code_unmap(struct code *c); /* none is fine */

/* How a closed engine makes code executable, without making memory executable
 * that could ever be written to: the pages of the file are mapped again. */
struct publisher {
    pthread_mutex_t lock; /* of the rest: one module at a time */
    struct code code;
    int hfd; /* -1: none, memory is made executable as usual */
};

void publisher_init(struct publisher *p, wasm_config_t *config);
/* The module of code that was mapped from a file, where it is. */
wasmtime_error_t *publisher_load(struct publisher *p, wasm_engine_t *wasm,
                                 const struct code *code, int hfd,
                                 OWN wasmtime_module_t **ret);

/* One program on its way. Freeing it ends the process. */
struct compilation {
    struct program base; /* its hfd is readable when it has been compiled */
    struct engine *engine;
    uint8_t hash[BLAKE2B_BYTES]; /* of the source */
    bool is_trusted;
    struct list link; /* in engine->compilations; not counted */

    pthread_mutex_t lock;
    pid_t pid;      /* 0: reaped, or not ours */
    int slot;       /* of the engine's remote; -1: a process of ours */
    int out_hfd;    /* its code */
    int64_t cpu_ns; /* once reaped */
    bool is_over;   /* its answer was taken */
};

/* -EAGAIN, -ENOMEM, -ENOEXEC; or the process cannot be started. */
int compilation_start(struct engine *e, const struct program_source *src,
                      const uint8_t *hash, OWN struct compilation **ret,
                      char *why, size_t why_size);
bool compilation_has_ended(const struct compilation *c);
int64_t compilation_cost_ns(struct program *base);
/* After its end, with the lock held: the code, mapped. -ENOEXEC; *ret_is_final
 * then says whether the same source would fail again. */
int compilation_take(struct compilation *c, OWN struct code *ret,
                     bool *ret_is_final, char *why, size_t why_size);

/* What such a process reads: this, and the module. */
struct compiler_order {
    uint64_t is_trusted;
};

/* Its own executable, open only until it runs. */
#define COMPILER_EXE_HFD 3

/* How such a process ends when nothing killed it. */
enum {
    COMPILER_DONE = 0,    /* descriptor 1 has the code */
    COMPILER_REFUSED = 1, /* descriptor 1 has the reason */
    COMPILER_FAILED = 2,
};

/* Compiles in this process, which is such a one and ends. */
_Noreturn void compiler_compile(wasm_engine_t *wasm, const uint8_t *module,
                                size_t len);

/* --- jail.c: gives up all that compiling does not need. */
#define COMPILER_CPU_S        20
#define COMPILER_WALL_S       60
#define COMPILER_MEMORY       (UINT64_C(1) << 30)
#define COMPILER_CODE_BYTES   (UINT64_C(128) << 20)
#define COMPILER_MODULE_BYTES (16u << 20)
int jail_enter(void);  /* ends with its parent; no rights to gain */
int jail_limit(void);  /* time, memory, files */
int jail_filter(void); /* system calls; no others are possible from here on */

/* --- engine.c, config.c */
struct engine {
    wasm_engine_t *wasm;
    wasmtime_linker_t *linker;
    uint32_t max_machines;
    _Atomic uint32_t machines;
    bool is_unpreemptive, compiles_in_process;
    bool is_closed;     /* no more programs */
    char settings[160]; /* all that compiled code depends on */
    int cache_hfd;      /* folder of compiled code, or -1 */
    int shipped_hfd;    /* another, only read, or -1 */
    struct compiler compiler;
    bool keeps_compiler; /* when it is closed: as `remote` */
    struct remote remote;
    struct publisher publisher;
    _Atomic size_t code_bytes; /* of guests' programs, mapped from files */
    struct pagemap pagemap;
    struct stacks stacks;
    struct ticker ticker;
    struct reaper reaper;

    pthread_mutex_t programs_lock;
    struct list programs[PROGRAM_BUCKETS]; /* by hash; not counted */
    struct list kept;                      /* counted, the last used first */
    size_t kept_bytes;                     /* of untrusted ones */
    struct list compilations;              /* not counted */
};

/* Makes e->wasm, e->settings, e->stacks and e->max_machines. */
int config_apply(struct engine *e, const struct engine_options *o, char *why,
                 size_t why_size);
/* An engine that only compiles, without a pool; what it makes can be loaded by
 * those of the default options. NULL: no such target. */
OWN wasm_engine_t *config_compiler(bool has_threads);

/* --- program.c: the table of programs. */

/* What is known of a program beside its code. */
struct program_facts {
    uint8_t hash[BLAKE2B_BYTES]; /* of the source */
    size_t bytes;                /* of the source, or of its mapped code */
    bool has_start;
    OWN uint8_t *note; /* of a frozen program, else NULL */
    size_t note_len;
};

void program_facts_fini(struct program_facts *f);

struct engine_program {
    struct program base;
    struct engine *engine;
    OWN wasmtime_module_t *module;
    OWN wasmtime_instance_pre_t *pre;
    OWN struct code code; /* that the module is in; or none */
    struct program_facts facts;
    OWN char *refusal;  /* why the source is no program, else NULL */
    struct list bucket; /* in engine->programs */
    struct list kept;   /* in engine->kept */
    bool is_trusted, is_kept;
    bool can_fork;   /* asyncified, exports what fork needs */
    bool has_resume; /* exports wasmsand_resume */
};

/* Takes facts over, also on failure; in no table yet. NULL: no memory. */
OWN struct engine_program *engine_program_new(struct program_facts *facts,
                                              bool is_trusted);
void engine_program_put(OWN struct engine_program *p); /* NULL is fine */
DEFINE_CLEANUP(struct engine_program *, engine_program_put)

/* NULL: there is none. Code that was made for a guest is never found for a
 * trusted program, whatever its source. */
OWN struct engine_program *programs_find(struct engine *e, const uint8_t *hash,
                                         bool is_trusted);
/* Enters p, or drops it in favour of one that another thread has entered
 * meanwhile. */
OWN struct engine_program *programs_add(struct engine *e,
                                        OWN struct engine_program *p);
/* Puts what the engine keeps for later. */
void programs_drop_kept(struct engine *e);
/* The same for what is being compiled: the one that was entered first. */
OWN struct compilation *compilations_find(struct engine *e, const uint8_t *hash,
                                          bool is_trusted);
OWN struct compilation *compilations_add(struct engine *e,
                                         OWN struct compilation *c);
void compilations_remove(struct compilation *c);

/* --- load.c */
int program_load(struct engine *e, const struct program_source *src,
                 OWN struct program **ret, char *why, size_t why_size);
const void *program_note(struct program *base, size_t *ret_len);

/* --- check.c: what a module may import and must export.  -ENOEXEC */
int program_check(struct engine_program *p, char *why, size_t why_size);

/* --- scan.c: facts of a binary that wasmtime does not tell. */
struct wasm_facts {
    bool has_start;
    uint32_t functions, tables;
    uint64_t locals;
    uint64_t cost; /* of compiling: the sum of the squares of function sizes */
    const uint8_t *note; /* of a frozen program (freeze.c), else NULL */
    size_t note_len;
};

int wasm_scan(const uint8_t *bytes, size_t len, struct wasm_facts *ret);

/* --- freeze.c: programs that begin where another has come to. */
#define FREEZE_SECTION "wasmsand.frozen"
int machine_freeze(struct machine *base, const struct program_source *src,
                   const void *note, size_t note_len, OWN uint8_t **ret,
                   size_t *ret_len);

/* --- code_cache.c: compiled code on disk. Entries are native code: only those
 * that nobody else can have written are loaded. */
int code_cache_open(const char *dir); /* a descriptor or -errno */
int code_cache_open_shipped(const char *dir);
/* An entry by the content of a program, or by the place of a source in a file:
 * a descriptor or -errno. Only content is looked for in what was shipped. */
int code_cache_find(struct engine *e, const uint8_t *hash,
                    struct program_facts *ret);
int code_cache_find_place(struct engine *e, const struct program_source *src,
                          struct program_facts *ret);
/* NULL: it is damaged, or of another engine. */
OWN wasmtime_module_t *code_cache_load(struct engine *e, int hfd);
/* Best effort: what cannot be stored is compiled again. */
void code_cache_add(struct engine *e, const struct program_facts *f,
                    const void *code, size_t len);
void code_cache_add_place(struct engine *e, const struct program_source *src,
                          const uint8_t *hash);

/* --- machine.c, fork.c */
enum fork_state {
    FORK_NO,
    FORK_UNWINDS, /* left sys.fork; the frames go to guest memory */
    FORK_DONE,    /* unwound; the next resume winds up again */
    FORK_REWINDS, /* on its way back to sys.fork */
};

/* A suspended function of WASI. */
struct wasi_call {
    unsigned row;
    uint64_t args[9];
    wasmtime_val_t *result; /* both stay valid until the call goes on */
    wasm_trap_t **trap;
};

struct engine_machine {
    struct machine base;
    uintptr_t stack_at;   /* an address on its native stack; 0: not yet */
    uint64_t stack_bytes; /* what that was last seen to take */
    struct engine *engine;
    OWN struct engine_program *program;
    OWN wasmtime_store_t *store; /* NULL: never run */
    wasmtime_context_t *context;
    OWN wasmtime_call_future_t *future; /* NULL: between two entries */
    OWN wasm_trap_t *trap;              /* results of the future */
    OWN wasmtime_error_t *error;
    wasmtime_instance_t instance;
    wasmtime_memory_t memory;
    wasmtime_func_t entry;
    struct wsand_engine_limiter limiter;

    bool is_instantiated;
    bool is_waiting;  /* suspended in a call that waits */
    bool is_next;     /* in sys.next, or a frozen program that begins there */
    bool is_resumed;  /* its entry is wasmsand_resume */
    uint32_t next_sp; /* stack pointer at the first sys.next; 0: not yet */
    uint64_t first_bytes;            /* of memory, when it was instantiated */
    uint64_t mapped_from, mapped_to; /* from a file; 0: none */
    enum fork_state fork;
    int32_t fork_result;
    struct wasi_call wasi;
    struct engine_machine *next_dead;
};

int machine_create(struct engine *e, struct program *p, struct thread *th,
                   OWN struct machine **ret);
enum machine_event machine_resume(struct machine *base,
                                  struct machine_trap *trap);
void machine_refresh(struct machine *base);
void machine_free(OWN struct machine *base);
/* The store of a machine whose future is gone, and the rest. */
void machine_dispose(OWN struct engine_machine *m);
/* Makes store and instance at once. -ENOMEM */
int machine_instantiate(struct engine_machine *m);
void machine_find_memory(struct engine_machine *m, wasmtime_caller_t *caller);

/* In an import. The memory is not known yet while the module starts. */
static inline struct engine_machine *
machine_of(wasmtime_caller_t *caller)
{
    struct engine_machine *m =
        wasmtime_context_get_data(wasmtime_caller_context(caller));

    m->stack_at = (uintptr_t)__builtin_frame_address(0);
    if (__builtin_expect(!m->base.base, 0))
        machine_find_memory(m, caller);
    return m;
}

/* The value of a global, or `otherwise` if there is none such. */
uint32_t machine_get_u32(struct engine_machine *m, const char *name,
                         uint32_t otherwise);
void machine_set_u32(struct engine_machine *m, const char *name,
                     uint32_t value);
int machine_grow(struct machine *base, uint64_t size);
int machine_map(struct machine *base, int hfd, uint64_t at, uint64_t len);
int machine_prepare(struct machine *base);
/* Notes what of its memory is not in use at sys.next. */
void machine_note_unused(struct engine_machine *m);
/* Makes wasmsand_resume its entry. */
void machine_enter_resume(struct engine_machine *m);
/* What an import returns to end the machine's current entry. */
OWN wasm_trap_t *machine_leave(void);

/* As machine_ops.stack_bytes (stack.c). */
uint64_t machine_stack_bytes(struct machine *base);

int machine_fork(struct machine *parent, struct machine *child);
void machine_fork_return(struct machine *base, int32_t result);
/* sys.fork is called for the first time. 0: goes on by unwinding. */
int fork_unwind(struct engine_machine *m);
/* The unwinding has come to its end, resp. is about to be undone. */
void fork_unwound(struct engine_machine *m);
void fork_rewind(struct engine_machine *m);
/* sys.fork is reached again. */
int32_t fork_rewound(struct engine_machine *m);

/* --- traps.c. `trap` or `error` is not NULL. */
void trap_describe(const wasm_trap_t *trap, const wasmtime_error_t *error,
                   struct machine_trap *ret);
/* The message of an error on one line, cut to size; consumes it. */
void error_text(OWN wasmtime_error_t *error, char *buf, size_t size);

/* --- imports.c, imports_sys.c, imports_wasi.c */
struct import {
    const char *module, *name;
    const char *params; /* i: i32, I: i64 */
    char result;        /* 'i' or 0 */
    /* One of the two. `row` is passed to it. */
    wasmtime_func_unchecked_callback_t call;
    wasmtime_func_async_callback_t suspend;
    unsigned row;
};

const struct import *sys_imports(size_t *ret_count);
const struct import *wasi_imports(size_t *ret_count);
const struct import *import_find(const char *module, size_t module_len,
                                 const char *name, size_t name_len);
/* `letter` as in params. */
bool valtype_is(const wasm_valtype_t *type, char letter);
bool import_has_type(const struct import *i, const wasm_functype_t *type);
int imports_define(wasmtime_linker_t *linker);

#endif
