/* wasmsand: a sandbox for untrusted programs.
 *
 * A runtime holds the parts that sandboxes share: the engine and its compiled
 * code. A sandbox is a computer of its own, with files, processes and limits.
 * Both types are opaque, and the library has no global state.
 *
 * Errors: a function that can fail returns 0 or a negative errno. On failure it
 * fills *err, which may be NULL, and leaves its results untouched.
 *
 * Structures that may grow begin with their size, which the caller sets, in
 * structures for results too. Members beyond that size count as zero, or are
 * not filled. A call fails with -EINVAL and the name of the structure if the
 * size was not set, or if a member that this version does not know is not zero.
 * A zero member of an options structure selects the default.
 *
 * Ownership: arguments are borrowed for the duration of the call. Results
 * belong to the caller; each function says how to free them.
 *
 * Threads: every function may be called from any thread. Calls on one sandbox
 * are served one after the other, in order of arrival; different sandboxes do
 * not wait for each other. wsand_cancel, wsand_signal and wsand_window_changed
 * never wait and may be called from signal handlers. wsand_status,
 * wsand_call_reply, wsand_run_resume, and the functions of a started process do
 * not wait either. */
#ifndef WASMSAND_H
#define WASMSAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WSAND_API __attribute__((visibility("default")))

struct wsand_runtime;
struct wsand_sandbox;

/* The reason why something was ended or refused. If several reasons apply to a
 * command whose status is not 0, the first one in this order counts. */
enum wsand_class {
    WSAND_CLASS_NONE,
    WSAND_TIMEOUT,        /* the time limit has passed */
    WSAND_CANCELLED,      /* by wsand_cancel */
    WSAND_LIMIT_EXCEEDED, /* the run hit a limit */
    /* Policy refused a program (allow_tools), a mount or the network. */
    WSAND_CAPABILITY_DENIED,
};

/* Returns "TIMEOUT", "CANCELLED" and so on, or NULL for WSAND_CLASS_NONE. */
WSAND_API const char *wsand_class_name(enum wsand_class c);

struct wsand_error {
    int errnum; /* as in errno.h, positive */
    enum wsand_class error_class;
    /* "ENOENT: no such file or directory: /p": begins with the errno's name */
    char message[256];
    bool is_program; /* the program cannot be run */
};

/* Returns the message without the errno's name; valid as long as *err. */
WSAND_API const char *wsand_error_text(const struct wsand_error *err);

/* Returns the version, such as "0.1.0". */
WSAND_API const char *wsand_version(void);

/* --- runtime */

/* A root image with a name: 1 to 64 letters, digits, '.', '_' and '-', of which
 * the first is a letter or a digit. */
struct wsand_image {
    const char *name, *path;
};

struct wsand_runtime_options {
    size_t size; /* sizeof(struct wsand_runtime_options) */
    /* Folder for compiled code, private to this user. NULL means the user's
     * cache folder, "" means no folder. */
    const char *cache_dir;
    uint32_t max_processes; /* of all sandboxes together [1024] */
    /* The file system that sandboxes start with: a plain tar file (ustar with
     * PAX extensions), mapped once and shared. NULL means a few empty folders.
     */
    const char *root_image;
    /* Executable that compiles programs, each in a process of its own: a
     * wasm-sandbox, or any program that calls wsand_compiler_main when its
     * first argument is "compile".
     *
     * NULL means that programs written by guests are refused, and that all
     * others are compiled in this process, uninterruptibly. The host must not
     * ignore SIGCHLD, nor wait for children that it did not start. */
    const char *compiler;
    uint32_t threads; /* maximum number of threads for jobs [256] */
    /* Loads every program of the root image now, and refuses all programs
     * later. This is for a process that then gives up the rights to open files
     * and to make memory executable. With a compiler, the runtime has not
     * started any thread when it is returned, so the whole process can be
     * restricted. */
    bool is_closed;
    /* The BLAKE2b hash of the root image (32 bytes), if it is known. NULL means
     * that it is computed when a state is saved, which takes a while. */
    const uint8_t *root_image_hash;
    /* A read-only folder of compiled code that came with the root image (see
     * wsand_precompile). It is used only if it belongs to this user or root and
     * nobody else can write to it. Name only a folder that you would run
     * programs from. */
    const char *shipped_dir;
    /* With is_closed: programs of guests are compiled nevertheless, by a
     * process of the compiler that is started now with the argument
     * "compilers". It shares namespaces and limits with this process. Compiled
     * code arrives in files, which are mapped. Sealing may therefore forbid
     * every executable mapping except an mmap of PROT_READ | PROT_EXEC with
     * MAP_PRIVATE | MAP_FIXED. */
    bool keeps_compiler;
    /* The caller has checked that shipped_dir and its files belong to this user
     * or root. In a user namespace without root, this process cannot. */
    bool shipped_is_checked;
    /* Path of the broker (wasmsand-netd), which is started for each sandbox
     * that uses its network. NULL: sandboxes cannot have one. */
    const char *broker;
    /* Name servers that the broker asks, as ADDRESS[:PORT] with commas between
     * them; NULL means those of the host. */
    const char *resolvers;
    /* Rules may name loopback addresses of the host. */
    bool host_loopback;
    /* Further root images, for wsand_options.image. Each is mapped when the
     * first sandbox uses it; is_closed maps all of them now. root_image is the
     * image "default". */
    const struct wsand_image *images;
    size_t n_images;
    /* For a process that must not connect itself, instead of `broker`: a socket
     * of packets, whose other end belongs to a broker of the owner of this
     * process. The owner decides by a policy of its own: rules of sandboxes
     * only turn their network on or off. One sandbox at a time may have a
     * network. 0: there is no such socket. */
    int network_hfd;
};

/* Creates a runtime; `o` may be freed afterwards. -EINVAL: the root image is
 * damaged, or was built for another version. */
WSAND_API int wsand_runtime_new(const struct wsand_runtime_options *o,
                                struct wsand_runtime **ret,
                                struct wsand_error *err);
/* Frees the runtime; its last sandbox must have been freed. Must not be called
 * from a job. Accepts NULL. */
WSAND_API void wsand_runtime_free(struct wsand_runtime *rt);

/* Does the work of a `compiler`, from descriptor 0 to descriptor 1, in a jail.
 * Ends the process. */
WSAND_API void wsand_compiler_main(void) __attribute__((noreturn));
/* Does the work of the argument "compilers": accepts orders on its descriptors
 * until its parent ends, and then ends the process. `seal` gives up all rights
 * that this does not need; it returns 0, or -errno and the failed step. */
WSAND_API void wsand_compilers_main(int (*seal)(const char **ret_where))
    __attribute__((noreturn));

/* --- sandbox */

struct wsand_file {
    const char *path; /* relative to the mount, without a leading slash */
    const void *data;
    size_t len;
};

/* A mount: a folder of the host or, if host_path is NULL, a folder with the
 * given files and the folders that they need, owned by the sandbox's user.
 * Files that are programs or begin with #! can be executed.
 *
 * Writable contents count against the limits of files; forks and snapshots
 * contain them as they are at that moment. The growth of a writable host folder
 * has limits of its own (mount_limits). */
struct wsand_mount {
    const char *host_path, *guest_path;
    bool is_writable;
    const struct wsand_file *files;
    size_t n_files;
};

/* Limits for the growth of a writable host folder after it was mounted: the
 * sizes of its files, and their number. Growth beyond them fails with ENOSPC. 0
 * means the sandbox's own limit. */
struct wsand_mount_limit {
    const char *guest_path; /* as in struct wsand_mount */
    uint64_t bytes, files;
};

/* A command that the host implements. It is a program in /usr/bin of the
 * sandbox or, if a program of this name exists there, in /usr/local/bin, which
 * comes first in PATH.
 *
 * `invoke` is called on the thread that runs the sandbox when the program has
 * read all of its standard input (nothing from a terminal). `invoke` must not
 * wait nor use the sandbox. wsand_call_reply answers the call, then or later.
 *
 * Commands need a root image (-ENOEXEC). -EINVAL: the name is no file name.
 * -EEXIST: the name is in use. */
struct wsand_call;
struct wsand_command {
    const char *name;
    const char *help; /* output of `name --help`; NULL: calls invoke */
    void (*invoke)(void *arg, struct wsand_call *call);
    void *arg;
};

/* A program of the host that appears at guest_path, executable. */
struct wsand_program {
    const char *host_path, *guest_path;
    bool is_checked; /* fail to create the sandbox if it cannot run */
};

struct wsand_options {
    size_t size; /* sizeof(struct wsand_options) */
    const struct wsand_mount *mounts;
    size_t n_mounts;
    const struct wsand_program *programs;
    size_t n_programs;
    /* Limits; docs/limits.md describes their effects. 0 means the default. */
    uint64_t memory_bytes, file_bytes, files, processes;
    uint64_t cpu_ms;                                    /* of one run */
    uint64_t stdout_bytes, stderr_bytes, command_bytes; /* of one run */
    uint64_t snapshots; /* maximum number at a time [64] */
    /* Maximum size of the data that only snapshots keep [256 MiB]: blocks of
     * files, pages of shells, and a fee for each file that differs from the
     * newest snapshot. Checked when a snapshot is created. */
    uint64_t snapshot_bytes;
    /* Writable folders, NULL-terminated, or NULL. With a list (even an empty
     * one) nothing else can be written: EROFS elsewhere, also for the functions
     * of files. Each folder behaves like a mount (-EXDEV, -EBUSY). A missing
     * folder is created and belongs to the sandbox's user. Mounts follow their
     * is_writable; /dev and /proc are as usual. */
    const char *const *writable_paths;
    /* Names of the programs that may run, NULL-terminated; NULL allows all.
     * Other programs fail with EACCES: status 126 and "Permission denied" in a
     * shell, whose builtins stay available.
     *
     * Only files and symbolic links of the host have a name in this sense:
     * those of the root image and of read-only mounts, `programs` and
     * `commands`. argv[0] and the path must end in an allowed name too. Files
     * that were changed, copied or renamed inside have no name and are refused,
     * also to root. Scripts of the guest may run if their interpreter may. */
    const char *const *allow_tools;
    const struct wsand_command *commands;
    size_t n_commands;
    /* NAME=VALUE, NULL-terminated, or NULL. Added to the environment of the
     * shell when it is first used. */
    const char *const *env;
    /* Makes the sandbox deterministic: random numbers come from the seed, and
     * the clock starts at clock_ns (since 1970). The clock advances a little
     * whenever a process asks for the time, and jumps to the next timer while
     * all processes sleep. */
    bool is_deterministic;
    uint64_t seed;
    int64_t clock_ns;
    /* Descriptor that gets a line for each system call; 0 means none. */
    int strace_fd;
    /* Initial folder of the shell, an absolute path that must exist. NULL means
     * /home/user. */
    const char *cwd;
    /* Creates the sandbox even if a program with is_checked cannot run. Running
     * that program then reports the reason and ends with status 126. */
    bool keeps_bad_programs;
    /* Limits of writable host folders. Folders without an entry have the
     * sandbox's limits file_bytes and files. */
    const struct wsand_mount_limit *mount_limits;
    size_t n_mount_limits;
    /* The sandbox is for wsand_run: a memory limit below the need of the shell
     * is rejected (-EINVAL), with the minimum in the message. */
    bool needs_shell;
    /* The user that programs run as and that owns files created by the host:
     * "user" (uid 1000) or "root"; NULL means "user". The sandbox is the
     * boundary, not the user: root cannot exceed limits, writable_paths,
     * allow_tools, read-only mounts and the rights of the host process. */
    const char *user;
    /* The network policy: rules as in docs/network.md, NULL-terminated. NULL
     * means that there is no network. -EINVAL: a rule is invalid, or the
     * sandbox is deterministic. -EOPNOTSUPP: the runtime has no broker. */
    const char *const *network;
    /* Maximum number of connections at a time [64], and of connections [50] and
     * lookups [20] per second. */
    uint32_t network_connections, network_connects, network_lookups;
    /* Maximum bytes of all connections of the sandbox in both directions, and
     * maximum bytes that a connection sends per second; 0 means no limit.
     * Beyond the first, connections end with ENETDOWN. */
    uint64_t network_bytes, network_rate;
    /* The name of the root image; NULL means "default". -EINVAL: the runtime
     * has no such image; the message lists the names. */
    const char *image;
};

/* Creates a sandbox. Nothing runs in it yet. -EINVAL: an option is invalid, or
 * a limit is outside of its range; the message names it. */
WSAND_API int wsand_sandbox_new(struct wsand_runtime *rt,
                                const struct wsand_options *o,
                                struct wsand_sandbox **ret,
                                struct wsand_error *err);
/* Kills all processes, waits for the calls and jobs of other threads (they fail
 * with -ECANCELED), and frees everything. Accepts NULL. Must not be called from
 * a job of the same sandbox. */
WSAND_API void wsand_sandbox_free(struct wsand_sandbox *sb);

/* Queues fn(sb, arg) as a job: a thread of the runtime calls it after
 * all earlier calls and jobs of this sandbox. Jobs of different sandboxes run
 * in parallel. Returns at once. -ECANCELED: the sandbox is being freed; queued
 * jobs are still called then, but the calls that they make fail.
 *
 * After a job, the runtime saves the state of the shell (wsand_checkpoint), and
 * runs the background processes. Background processes of deterministic
 * sandboxes advance only during calls that run something. */
WSAND_API int wsand_post(struct wsand_sandbox *sb,
                         void (*fn)(struct wsand_sandbox *sb, void *arg),
                         void *arg, struct wsand_error *err);
/* Like wsand_post, but calls fn on this thread if no call or job uses the
 * sandbox. fn has returned when this returns 0. -EBUSY: the sandbox is in use
 * or is being freed, and fn was not called. */
WSAND_API int wsand_post_here(struct wsand_sandbox *sb,
                              void (*fn)(struct wsand_sandbox *sb, void *arg),
                              void *arg);
/* Begins a job on this thread if no call or job uses the sandbox; wsand_leave
 * ends it, on the same thread. Calls in between do not wait, as in a job of
 * wsand_post_here. -EBUSY: the sandbox is in use or is being freed. */
WSAND_API int wsand_enter(struct wsand_sandbox *sb);
WSAND_API void wsand_leave(struct wsand_sandbox *sb);
/* Like wsand_post, but calls fn soon, in parallel with the current call. The
 * calls that fn makes wait for the sandbox, except those that never wait. */
WSAND_API int wsand_post_beside(struct wsand_sandbox *sb,
                                void (*fn)(struct wsand_sandbox *sb, void *arg),
                                void *arg, struct wsand_error *err);
/* Calls fn(sb, arg) without waiting for the running command: on this thread if
 * the sandbox is idle, otherwise on the thread that runs it, between time
 * slices of its processes. fn has returned when this returns 0.
 *
 * fn may use the functions of files, wsand_state_changes (which then reports
 * the shell as it was before the command) and the functions that never wait.
 * -ECANCELED: fn was not called, because the sandbox is being freed. */
WSAND_API int wsand_beside(struct wsand_sandbox *sb,
                           void (*fn)(struct wsand_sandbox *sb, void *arg),
                           void *arg, struct wsand_error *err);
/* Like wsand_post, for work without a sandbox, such as creating or freeing one.
 * wsand_runtime_free waits for all such work. */
WSAND_API int wsand_runtime_post(struct wsand_runtime *rt,
                                 void (*fn)(void *arg), void *arg,
                                 struct wsand_error *err);

/* Adds a mount that hides the folder at its path. Later forks have the mount,
 * and wsand_snapshot_restore and wsand_reset keep it. -EBUSY: something is
 * mounted there. -EINVAL: a path in `files` is invalid. -EEXIST, -ENOTDIR: two
 * paths are equal, or one is inside the other. -ENOSPC: limits. On failure
 * nothing has changed. */
WSAND_API int wsand_mount(struct wsand_sandbox *sb, const struct wsand_mount *m,
                          struct wsand_error *err);

/* --- running a program */

struct wsand_exec {
    size_t size;                           /* sizeof(struct wsand_exec) */
    const char *path;                      /* in the sandbox */
    const char *const *argv, *const *envp; /* NULL-terminated */
    const char *cwd;                       /* NULL: "/" */
    /* Descriptors of the host, passed through. If stdio[0] is a terminal, the
     * program gets a terminal of its own, connected to it, and the host's
     * terminal is in raw mode until the program ends. */
    int stdio[3];
    uint64_t timeout_ms; /* 0: none */
    /* Folder of a mount that becomes the program's root directory after it was
     * loaded; cwd is relative to it. NULL means "/". */
    const char *root;
};

struct wsand_result {
    size_t size;   /* sizeof(struct wsand_result) */
    int exit_code; /* -1 if a signal ended the program */
    int signal;    /* 0 if the program exited */
    bool timed_out, cancelled;
    char reason[120]; /* cause of a trap: "out of bounds memory access" */
};

/* Runs one program to its end. Fails with -ENOENT, -EACCES, -ENOEXEC and so on
 * if the program cannot be started. */
WSAND_API int wsand_exec(struct wsand_sandbox *sb, const struct wsand_exec *x,
                         struct wsand_result *ret, struct wsand_error *err);

/* --- the shell */

/* A sandbox with a root image has one resident bash. Changes that a command
 * makes (folder, variables, functions, options, traps) persist for the next
 * command. */
struct wsand_run {
    size_t size; /* sizeof(struct wsand_run) */
    const char *command;
    size_t command_len;
    const void *input; /* standard input; NULL: empty */
    size_t input_len;
    uint64_t timeout_ms;               /* 0: none */
    size_t stdout_bytes, stderr_bytes; /* maximum to keep; 0: the limit */
    /* Working folder (an absolute path) and variables (NAME=VALUE,
     * NULL-terminated) for this command only. Afterwards the shell has its own
     * again, whatever the command did to them. NULL means the shell's own. */
    const char *cwd;
    const char *const *env;
    bool merge_stderr; /* add stderr to stdout, in the order of writing */
    /* Called during the command with all bytes that it writes to standard
     * output (1) and standard error (2), also beyond the limits. It must not
     * use the sandbox, except for wsand_cancel. May be NULL. */
    void (*on_output)(void *arg, int stream, const void *data, size_t len);
    void *on_output_arg;
    bool trace; /* record the last system calls for wsand_output.trace */
    /* keep_ends: of output beyond its limit, keep the first and the last part
     * instead of only the first, with a line between them that states the
     * number of missing bytes. All of it stays within the limit. The line is
     * omitted with is_unmarked, or if the limit is below 256 bytes. */
    bool keep_ends, is_unmarked;
    /* Called before on_output, on the same thread, with on_output_arg. Returns
     * the number of bytes that on_output accepts now. At 0, writing programs
     * block as for a full pipe until wsand_run_resume, but no longer than the
     * time limit. Lines of the library itself, such as "command timed out", are
     * passed regardless. NULL accepts any number. */
    size_t (*window)(void *arg);
};

/* A host that a command tried to reach. */
struct wsand_denied {
    const char *host; /* name or address */
    uint16_t port;    /* 0: not known, after a lookup of the name */
    /* One word, a constant: "off" (no network), "no-rule", "denied" (by a
     * rule), "private", "loopback", "reserved" (kinds of addresses), "udp". */
    const char *reason;
};

/* The result of a command. wsand_output_free frees the bytes and makes the
 * structure ready for the next run. */
struct wsand_output {
    size_t size; /* sizeof(struct wsand_output) */
    /* 128 + n after signal n. 124 after the time limit: the output so far is
     * kept, standard error ends with "command timed out\n", and time_us is the
     * limit. 130 after a cancel. A command longer than command_bytes does not
     * run: the code is 1, with a message on standard error. */
    int exit_code;
    enum wsand_class error_class;
    bool timed_out, cancelled;
    char *out, *err; /* may be NULL if the length is 0 */
    size_t out_len, err_len;
    /* Bytes that are missing because of the limits. A UTF-8 character is
     * dropped as a whole. */
    uint64_t out_dropped, err_dropped;
    /* The limit (as in docs/limits.md) that was hit by a command that did not
     * end with 0, otherwise NULL. A constant. */
    const char *limit;
    /* The newest output, at most 64 KiB, that background processes of earlier
     * commands wrote since the last run. */
    char *background;
    size_t background_len;
    uint64_t time_us, cpu_ms;
    uint64_t max_memory_bytes; /* of all processes of the sandbox */
    /* If wsand_run.trace was set and exit_code is not 0: the last system calls
     * of the command's processes, at most 200 lines and 64 KiB. */
    char *trace;
    size_t trace_len;
    /* Hosts that the command was denied, at most 16 different ones. */
    struct wsand_denied *denied;
    size_t n_denied;
};

/* Runs a command to its end. If a command is killed, the shell returns to the
 * state before it. -ENOEXEC: there is no root image, or no shell in it.
 * -ENOENT, -ENOTDIR, -EACCES: invalid `cwd`. -EINVAL: invalid `env`. -EPERM: a
 * variable of `env` is read-only in the shell. */
WSAND_API int wsand_run(struct wsand_sandbox *sb, const struct wsand_run *run,
                        struct wsand_output *ret, struct wsand_error *err);
/* Frees the bytes of a result. Accepts a structure that was not filled, if its
 * size is set. */
WSAND_API void wsand_output_free(struct wsand_output *out);
/* Cancels the command that is running now, including any later command of the
 * same job. No effect if none is running. May be called from any thread or
 * signal handler. */
WSAND_API void wsand_cancel(struct wsand_sandbox *sb);
/* Makes programs of the running command that wait for its `window` ask for the
 * window again. */
WSAND_API int wsand_run_resume(struct wsand_sandbox *sb,
                               struct wsand_error *err);
/* Saves the state of the shell after a command, so that the next command need
 * not do it first. Call it after the answer was delivered. */
WSAND_API int wsand_checkpoint(struct wsand_sandbox *sb,
                               struct wsand_error *err);
/* Creates a copy of the sandbox between commands: files, shell, working folder
 * and open files, but no other processes. The cost does not depend on the
 * contents.
 *
 * The shell of a copy opens its files again, at the same positions. Connections
 * to hosts outside are reset. Pipes, other sockets and removed files become
 * /dev/null. Terminals, FIFOs with unread
 * bytes and other files that cannot be opened again are closed. The next
 * command then begins with a line on its standard error for each of these. */
WSAND_API int wsand_fork(struct wsand_sandbox *sb, struct wsand_sandbox **ret,
                         struct wsand_error *err);

/* --- the network */

/* Replaces the network policy: rules as in wsand_options.network, NULL for no
 * network. Open connections that the new policy denies are reset. Errors are
 * those of wsand_options.network; then nothing has changed. */
WSAND_API int wsand_network_set(struct wsand_sandbox *sb,
                                const char *const *rules,
                                struct wsand_error *err);
/* Returns the rules in their canonical form, NULL-terminated, or NULL in *ret
 * if there is no network. One free() frees everything. *ret_revision is the
 * number of policies so far. */
WSAND_API int wsand_network_get(struct wsand_sandbox *sb, char ***ret,
                                uint64_t *ret_revision,
                                struct wsand_error *err);

/* --- ports: connections from the host to servers inside */

struct wsand_port {
    uint16_t port; /* in the sandbox */
    uint16_t host_port;
    char address[46]; /* of the host */
};

/* Listens on an address of the host (NULL: 127.0.0.1) and forwards connections
 * to a port of the sandbox. host_port 0 means any free port; *ret_port is the
 * one that was chosen. A connection is closed if nothing listens inside. Forks
 * do not have the forward. -EEXIST: the port is forwarded already. -EINVAL: the
 * address or the port is invalid, or the sandbox is deterministic.
 * -EADDRINUSE, -EACCES: as for bind(2). */
WSAND_API int wsand_port_forward(struct wsand_sandbox *sb, uint16_t port,
                                 const char *address, uint16_t host_port,
                                 uint16_t *ret_port, struct wsand_error *err);
/* Ends a forward; connections stay. -ENOENT: there is none. */
WSAND_API int wsand_port_unforward(struct wsand_sandbox *sb, uint16_t port,
                                   struct wsand_error *err);
/* Returns all forwards in *ret, which the caller frees with free(). */
WSAND_API int wsand_port_list(struct wsand_sandbox *sb, struct wsand_port **ret,
                              size_t *ret_n, struct wsand_error *err);

/* --- the environment: the variables that the shell exports
 *
 * These functions need the shell (-ENOEXEC as for wsand_run). -EINVAL: invalid
 * name of a variable. -ETIMEDOUT: the shell does not answer, because functions
 * or traps of the user interfere. */

/* Sets a variable to any bytes without NUL. -EPERM: it is read-only. -ENOMEM:
 * memory limit. */
WSAND_API int wsand_env_set(struct wsand_sandbox *sb, const char *name,
                            const char *value, struct wsand_error *err);
/* Returns a variable in *ret, which the caller frees with free(), or NULL if it
 * does not exist. */
WSAND_API int wsand_env_get(struct wsand_sandbox *sb, const char *name,
                            char **ret, struct wsand_error *err);
/* Removes a variable; a missing one is not an error. -EPERM: it is read-only.
 */
WSAND_API int wsand_env_unset(struct wsand_sandbox *sb, const char *name,
                              struct wsand_error *err);
/* Returns all variables as NAME=VALUE, sorted, NULL-terminated. One free()
 * frees everything. */
WSAND_API int wsand_env_list(struct wsand_sandbox *sb, char ***ret,
                             struct wsand_error *err);

/* --- files
 *
 * Paths are resolved as inside the sandbox, with symbolic links and mounts; a
 * read-only mount gives -EROFS. A path without a leading slash is relative to
 * the shell's folder after the last finished command; `~` and `~/...` mean the
 * home folder. These functions act as root; files that they create belong to
 * the sandbox's user. Errors are those of the system calls of the same name. At
 * a limit the message is "ENOSPC: file count limit reached (max: N)". */

enum wsand_type { WSAND_FILE, WSAND_DIR, WSAND_SYMLINK, WSAND_OTHER };

struct wsand_stat {
    enum wsand_type type;
    uint32_t mode; /* permissions */
    uint32_t uid, gid, nlink;
    uint64_t bytes;
    int64_t mtime_ns; /* since 1970 */
};

struct wsand_entry {
    char *name;
    struct wsand_stat stat; /* of a symbolic link itself */
};

struct wsand_list {
    struct wsand_entry *v; /* sorted by name */
    size_t n;
};

#define WSAND_ALL      SIZE_MAX
#define WSAND_READ_MAX ((size_t)1 << 30)

/* Reads at most `length` bytes (WSAND_ALL: to the end) from `offset`; beyond
 * the end there are none. *ret_data is never NULL; the caller frees it with
 * free(). -EFBIG: the result would exceed WSAND_READ_MAX. -EISDIR: a folder.
 * -EINVAL: neither a regular file nor a folder. */
WSAND_API int wsand_file_read(struct wsand_sandbox *sb, const char *path,
                              uint64_t offset, size_t length, void **ret_data,
                              size_t *ret_len, struct wsand_error *err);

struct wsand_write {
    size_t size; /* sizeof(struct wsand_write) */
    const char *path;
    const void *data;
    size_t len;
    uint32_t mode; /* 0: unchanged, or 0644 for a new file */
    bool append;
    bool has_offset;
    uint64_t offset;
    bool parents; /* create missing parent folders */
};

/* Writes a file and creates it if it is missing. Without `parents`, its folder
 * must exist.
 *
 * Without `append` and `has_offset`, the file is replaced atomically: a reader
 * sees the old or the new contents. The owner stays, but the inode is new. With
 * one of them the file is changed in place, and after an error some of the
 * bytes may have been written. */
WSAND_API int wsand_file_write(struct wsand_sandbox *sb,
                               const struct wsand_write *w,
                               struct wsand_error *err);
/* Lists a folder, without "." and "..". */
WSAND_API int wsand_file_list(struct wsand_sandbox *sb, const char *path,
                              struct wsand_list *ret, struct wsand_error *err);
/* Frees the entries of a list. */
WSAND_API void wsand_list_free(struct wsand_list *list);
/* Returns the attributes of a file. follow: of the target of a symbolic link.
 */
WSAND_API int wsand_file_stat(struct wsand_sandbox *sb, const char *path,
                              bool follow, struct wsand_stat *ret,
                              struct wsand_error *err);
/* Creates a folder; mode 0 means 0755. recursive: creates missing parents, and
 * accepts a folder that exists. */
WSAND_API int wsand_file_mkdir(struct wsand_sandbox *sb, const char *path,
                               uint32_t mode, bool recursive,
                               struct wsand_error *err);
/* Removes a file, link or folder; a folder with contents only if recursive.
 * After an error, part of it may have been removed. -EBUSY: something is
 * mounted there. */
WSAND_API int wsand_file_rm(struct wsand_sandbox *sb, const char *path,
                            bool recursive, struct wsand_error *err);
/* Renames a file or folder. A file at `to` is replaced, as is an empty folder
 * by a folder. -EXDEV: the paths are on different mounts. */
WSAND_API int wsand_file_rename(struct wsand_sandbox *sb, const char *from,
                                const char *to, struct wsand_error *err);
/* Creates a symbolic link at `path`; `target` need not exist. */
WSAND_API int wsand_file_symlink(struct wsand_sandbox *sb, const char *target,
                                 const char *path, struct wsand_error *err);
/* Sets the permissions of a file or, for a symbolic link, of its target. */
WSAND_API int wsand_file_chmod(struct wsand_sandbox *sb, const char *path,
                               uint32_t mode, struct wsand_error *err);

/* --- snapshots
 *
 * A snapshot is the state of a sandbox between commands: its files (except
 * mounted host folders), and its shell as wsand_fork would copy it. It belongs
 * to its sandbox and is freed with it; forks do not have it. The cost of these
 * functions does not depend on the size of the sandbox. */

/* Creates a snapshot. Ids are not reused. -ENOSPC: the maximum number of
 * snapshots, or of bytes that they keep, is reached. */
WSAND_API int wsand_snapshot_create(struct wsand_sandbox *sb, uint64_t *ret,
                                    struct wsand_error *err);
/* Kills all processes and returns to the snapshot, as often as wanted. On an
 * error before that, nothing has changed. -ENOENT: no such snapshot. -EBUSY:
 * the snapshot has a file where a folder is mounted now. */
WSAND_API int wsand_snapshot_restore(struct wsand_sandbox *sb, uint64_t id,
                                     struct wsand_error *err);
/* Deletes a snapshot. -ENOENT: no such snapshot. */
WSAND_API int wsand_snapshot_delete(struct wsand_sandbox *sb, uint64_t id,
                                    struct wsand_error *err);
/* Returns the ids, oldest first; *ret_ids is freed with free(). */
WSAND_API int wsand_snapshot_list(struct wsand_sandbox *sb, uint64_t **ret_ids,
                                  size_t *ret_n, struct wsand_error *err);
/* Kills all processes and returns to the state at creation (of a fork: its
 * initial state). Snapshots stay. */
WSAND_API int wsand_reset(struct wsand_sandbox *sb, struct wsand_error *err);
/* Save a snapshot as bytes (freed with free()), and load bytes as a new
 * snapshot of a sandbox with the same root image and mounts. -EINVAL: they
 * differ, or the bytes are damaged. -ENOSPC: limits.
 *
 * The bytes need not be trusted: they can only describe a state that the
 * sandbox's user could have created. Open files that the user may not open now
 * become /dev/null. */
WSAND_API int wsand_snapshot_save(struct wsand_sandbox *sb, uint64_t id,
                                  void **ret_data, size_t *ret_len,
                                  struct wsand_error *err);
WSAND_API int wsand_snapshot_load(struct wsand_sandbox *sb, const void *data,
                                  size_t len, uint64_t *ret_id,
                                  struct wsand_error *err);

/* A process that ran when a state was saved, and that copies of that state
 * lack. */
struct wsand_lost_process {
    int pid;
    uint64_t process_id; /* of wsand_process_start; 0: started by a command */
    const char *command; /* the arguments, at most 200 bytes */
};

/* Lists the processes of the state that sb was forked from, or that it last
 * returned to (restore, reset, state_apply): at most 4 KiB of text. The caller
 * frees *ret with one free(). */
WSAND_API int wsand_not_copied(struct wsand_sandbox *sb,
                               struct wsand_lost_process **ret, size_t *ret_n,
                               struct wsand_error *err);

/* --- durable state
 *
 * The state of a sandbox between commands as a map from keys to values: the
 * shell, the history, and the files, except those of read-only mounts and host
 * folders. A key has at most WSAND_KEY_MAX bytes. A value is below 5 KiB,
 * except commands of the history (1 MiB) and the script (16 MiB). Snapshots are
 * not included. */

#define WSAND_KEY_MAX 264

struct wsand_sink {
    /* Receives one record; value NULL means that the key is removed. A result
     * other than 0 ends the calling function, which returns it. Must not use
     * the sandbox. */
    int (*put)(void *arg, const void *key, size_t key_len, const void *value,
               size_t len);
    void *arg;
};

/* Reports all records that changed since the last successful call (or since
 * wsand_state_apply); the first call reports everything. After a failed call,
 * the next one reports its records again. The cost depends only on the amount
 * of changes. While a command runs (wsand_beside), the files are current, and
 * the shell is that from before the command.
 *
 * with_script: also writes the shell as a script, for a state that shall
 * outlive this version of the shell; the script stays valid until the shell
 * changes. If the shell does not answer in time, no script is written. */
WSAND_API int wsand_state_changes(struct wsand_sandbox *sb,
                                  const struct wsand_sink *to, bool with_script,
                                  struct wsand_error *err);

/* A state under construction, for a sandbox with the same root image and
 * mounts. The records come in the order of their keys and need not be trusted,
 * as in wsand_snapshot_load. -EINVAL: not a state, or damaged. */
struct wsand_state;
WSAND_API int wsand_state_begin(struct wsand_sandbox *sb,
                                struct wsand_state **ret,
                                struct wsand_error *err);
WSAND_API int wsand_state_put(struct wsand_state *st, const void *key,
                              size_t key_len, const void *value, size_t len,
                              struct wsand_error *err);
/* Makes it the state of the sandbox, and ends the processes of the sandbox. st
 * is freed in any case. All records are checked first: on an error nothing has
 * changed. -EINVAL: not a state, damaged, for another root image, or of another
 * shell without a script. -ENOSPC: limits. -ETIMEDOUT: the script did not end
 * within five seconds. */
WSAND_API int wsand_state_apply(struct wsand_state *st,
                                struct wsand_error *err);
/* Frees a state that was not applied. Accepts NULL. */
WSAND_API void wsand_state_free(struct wsand_state *st);

/* --- export and import
 *
 * An export contains the changes since the root image, as a tar file in the
 * format of an OCI layer (with whiteouts). One more member, .wasmsand.json,
 * contains the version, the environment, and the shell's state as a script. */

/* Creates an export; *ret_data is freed with free(). Mounts and sockets in
 * folders are not included. -EINVAL: a file name begins with ".wh." or is that
 * of the member, or a path has more than 4,095 bytes. -ETIMEDOUT as for
 * wsand_env_get. */
WSAND_API int wsand_export(struct wsand_sandbox *sb, void **ret_data,
                           size_t *ret_len, struct wsand_error *err);
/* Replaces files, environment and shell by those of the export, and ends all
 * processes. Everything is checked first: on an error nothing has changed.
 * -EINVAL: not an export, or one that no sandbox could have created. -ENOSPC:
 * limits. -ETIMEDOUT: the script did not end within five seconds. */
WSAND_API int wsand_import(struct wsand_sandbox *sb, const void *data,
                           size_t len, struct wsand_error *err);

/* --- history: the newest 1,000 commands of wsand_run, at most 1 MiB
 *
 * A fork begins with the history of its origin. The history is part of
 * snapshots. */

/* Returns the commands, oldest first, NULL-terminated; one free() frees
 * everything. */
WSAND_API int wsand_history_list(struct wsand_sandbox *sb, char ***ret,
                                 struct wsand_error *err);
/* Removes all commands. */
WSAND_API void wsand_history_clear(struct wsand_sandbox *sb);

/* --- processes beside the shell
 *
 * A process is a separate bash for one command, with the environment of the
 * shell (while a command runs, the environment before it). It runs in parallel
 * with other calls and between them, until it ends, or until the sandbox is
 * restored, reset or freed. */

struct wsand_process_options {
    size_t size;         /* sizeof(struct wsand_process_options) */
    const char *command; /* NULL: an interactive shell (with is_pty) */
    bool is_pty;
    uint16_t rows, cols;    /* [24, 80] */
    const char *cwd;        /* NULL: the shell's, as for paths of files */
    const char *const *env; /* added to the shell's; NULL-terminated */
    /* Called on the thread that runs the sandbox. Must not wait, and must not
     * use the sandbox except for functions that never wait. Output of a
     * terminal is stream 1. on_exit is the last call. Both may be NULL. */
    void (*on_output)(void *arg, uint64_t id, int stream, const void *data,
                      size_t len);
    void (*on_exit)(void *arg, uint64_t id, int exit_code);
    void *arg;
    /* Called first, before the process has run. May be NULL. */
    void (*on_start)(void *arg, uint64_t id);
    /* Called before on_output, on the same thread. If it returns false, the
     * process blocks when it writes, as for a full pipe, until
     * wsand_process_resume. NULL means that output is always accepted. */
    bool (*has_room)(void *arg);
    /* Called after has_room: returns the number of bytes that on_output accepts
     * now. Bytes left in a terminal when the process ends are passed
     * regardless. NULL accepts any number. */
    size_t (*window)(void *arg);
    /* "user" or "root"; NULL means the sandbox's user. For another user, HOME,
     * USER and LOGNAME are set accordingly, unless `env` contains them. */
    const char *user;
    /* Descriptor 3 of the process is one more output, stream 3 of on_output.
     * Not with is_pty. */
    bool has_results;
};

/* Starts a process. Does not wait: the process starts even while a command
 * runs. */
WSAND_API int wsand_process_start(struct wsand_sandbox *sb,
                                  const struct wsand_process_options *o,
                                  uint64_t *ret_id, struct wsand_error *err);
/* Writes to the standard input or terminal of a process. len 0 ends the input
 * (-EPIPE afterwards); on a terminal it types ^D. -EAGAIN: the process has not
 * read earlier input; up to 1 MiB is buffered. -EMSGSIZE: more than that at
 * once. -ESRCH: the process has ended. */
WSAND_API int wsand_process_write(struct wsand_sandbox *sb, uint64_t id,
                                  const void *data, size_t len,
                                  struct wsand_error *err);
/* Sets the size of the terminal. -ENOTTY: the process has none. -ESRCH. */
WSAND_API int wsand_process_resize(struct wsand_sandbox *sb, uint64_t id,
                                   uint16_t rows, uint16_t cols,
                                   struct wsand_error *err);
/* Sends a signal to a process and its descendants. SIGHUP also hangs up its
 * terminal: readers get the end of input. -ESRCH. -EINVAL: no such signal. */
WSAND_API int wsand_process_kill(struct wsand_sandbox *sb, uint64_t id, int sig,
                                 struct wsand_error *err);
/* Resumes a process whose output was not accepted. -ESRCH. */
WSAND_API int wsand_process_resume(struct wsand_sandbox *sb, uint64_t id,
                                   struct wsand_error *err);

struct wsand_process {
    uint64_t id;
    char *command; /* "bash" for an interactive shell */
    bool is_pty, has_ended;
    int exit_code; /* after its end; 128 + n for signal n */
};

/* Lists running processes and the last 64 that have ended; *ret is freed with
 * one free(). */
WSAND_API int wsand_process_list(struct wsand_sandbox *sb,
                                 struct wsand_process **ret, size_t *ret_n,
                                 struct wsand_error *err);

/* --- calls of the host's commands */

struct wsand_call_info {
    const char *name;
    const char *const *argv, *const *envp; /* NULL-terminated; argv[0]: name */
    const char *cwd;
    const void *input; /* all of its standard input */
    size_t input_len;
    uint64_t timeout_ms; /* remaining time of the run; 0: no limit */
};

/* Returns the arguments of a call; valid until the call is answered. */
WSAND_API const struct wsand_call_info *
wsand_call_info(const struct wsand_call *call);
/* Answers the call, once, from any thread, even if the process or its sandbox
 * is gone. exit_code counts modulo 256. */
WSAND_API void wsand_call_reply(struct wsand_call *call, int exit_code,
                                const void *out, size_t out_len,
                                const void *err, size_t err_len);

/* --- status */

struct wsand_status {
    size_t size; /* sizeof(struct wsand_status) */
    /* Current use. Files and folders of the root image cost nothing. */
    uint64_t processes, memory_bytes, files, file_bytes, snapshots;
    uint64_t cpu_ms; /* of all runs */
    struct {
        uint64_t processes, memory_bytes, files, file_bytes, snapshots;
        uint64_t cpu_ms; /* of one run; 0: no limit */
    } max;
};

/* Returns the resource use and the limits of a sandbox. Does not wait: while
 * the sandbox runs, the figures are those of one moment each. */
WSAND_API int wsand_status(const struct wsand_sandbox *sb,
                           struct wsand_status *ret, struct wsand_error *err);

/* --- for builds and terminals */

/* Compiles all programs of the root image that are not in the cache, and copies
 * the code into a folder, which is created if it is missing. The folder can be
 * the shipped_dir of an installation with this root image. */
WSAND_API int wsand_precompile(struct wsand_runtime *rt, const char *dir,
                               struct wsand_error *err);

/* Starts a program that can become resident (a shell) and writes it to hfd as a
 * program that starts initialised. Used to build root images. */
WSAND_API int wsand_freeze(struct wsand_sandbox *sb, const struct wsand_exec *x,
                           int hfd, struct wsand_error *err);

/* Sends a signal to all processes of the running program. */
WSAND_API void wsand_signal(struct wsand_sandbox *sb, int sig);
/* Notifies the program that the size of the host's terminal has changed. */
WSAND_API void wsand_window_changed(struct wsand_sandbox *sb);

#ifdef __cplusplus
}
#endif
#endif
