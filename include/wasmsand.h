/* wasmsand: a computer for untrusted programs.
 *
 * A runtime holds what sandboxes share: the engine and its compiled code. A
 * sandbox is a computer of its own: files, processes, limits. Both are opaque;
 * nothing here is global.
 *
 * Functions that can fail return 0, or a negative errno with the details in
 * *err (which may be NULL); results are untouched then. Structures that may
 * grow begin with their size, which the caller sets, also in those for results:
 * members past it are taken as zero, or not filled. -EINVAL, naming the
 * structure: the size was not set, or members that this version does not know
 * are not zero. A zeroed member of options means the default. What is given to
 * a function is borrowed for the call; what it gives back is the caller's, to
 * be freed as is said there.
 *
 * Threads: everything may be called from any thread. Calls on one sandbox are
 * served one after the other, in the order in which they came; different
 * sandboxes do not wait for each other. wsand_cancel, wsand_signal and
 * wsand_window_changed do not wait and may be called from signal handlers;
 * wsand_status, wsand_call_reply, wsand_run_resume, and the functions of a
 * process that was started do not wait either. */
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

/* Why something was ended or refused. Of a command whose status is not 0, the
 * first of these that is true: */
enum wsand_class {
    WSAND_CLASS_NONE,
    WSAND_TIMEOUT,        /* its time was over */
    WSAND_CANCELLED,      /* by wsand_cancel */
    WSAND_LIMIT_EXCEEDED, /* it has hit the limit that is named */
    /* Policy has refused it a program (allow_tools), a mount or the network. */
    WSAND_CAPABILITY_DENIED,
};

/* "TIMEOUT", ...; NULL for WSAND_CLASS_NONE. */
WSAND_API const char *wsand_class_name(enum wsand_class c);

struct wsand_error {
    int errnum; /* as in errno.h, positive */
    enum wsand_class error_class;
    /* "ENOENT: no such file or directory: /p": the errno's name comes first */
    char message[256];
    bool is_program; /* it is the program that cannot be run */
};

/* The message without the errno's name; lives as long as *err. */
WSAND_API const char *wsand_error_text(const struct wsand_error *err);

/* "0.1.0" */
WSAND_API const char *wsand_version(void);

/* --- runtime */

struct wsand_runtime_options {
    size_t size; /* sizeof(struct wsand_runtime_options) */
    /* Folder for compiled code, private to this user; NULL: the user's cache
     * folder, "": none. */
    const char *cache_dir;
    uint32_t max_processes; /* of all sandboxes together [1024] */
    /* The file system that sandboxes start with: a plain tar (ustar with PAX
     * extensions), mapped once and shared. NULL: a few folders only. */
    const char *root_image;
    /* Executable that compiles programs, each in a process of its own: a
     * wasm-sandbox, or any that calls wsand_compiler_main when its first
     * argument is "compile". NULL: programs that guests write are refused,
     * all others are compiled in this process, which nothing can interrupt.
     * The host must not ignore SIGCHLD, nor wait for children that are not
     * its own. */
    const char *compiler;
    uint32_t threads; /* of the pool, at most; made when needed [256] */
    /* Loads every program of the root image now, and none later: others are
     * refused. For a process that then gives up opening files and making
     * memory executable; with a compiler, the runtime has no threads yet. */
    bool is_closed;
    /* The BLAKE2b of the root image (32 bytes), where it is known; NULL: it is
     * made when a state is saved, which takes a while. */
    const uint8_t *root_image_hash;
    /* A folder of compiled code that came with the root image (see
     * wsand_precompile), only read: its owner is this user or root, and nobody
     * else can write there, or it is not used. Name only a folder that you
     * would run programs from. */
    const char *shipped_dir;
    /* With is_closed: programs of guests are compiled all the same, by a
     * process of the compiler that is started now, with the argument
     * "compilers", and shares namespaces and limits with this one. What it
     * makes comes as files, which are mapped: sealing may forbid everything
     * but an mmap of PROT_READ | PROT_EXEC with MAP_PRIVATE | MAP_FIXED. */
    bool keeps_compiler;
};

WSAND_API int wsand_runtime_new(const struct wsand_runtime_options *o,
                                struct wsand_runtime **ret,
                                struct wsand_error *err);
/* After its last sandbox was freed, and not from a job. NULL is fine. */
WSAND_API void wsand_runtime_free(struct wsand_runtime *rt);

/* The work of a `compiler`: from descriptor 0 to descriptor 1, in a jail. Ends
 * the process. */
WSAND_API void wsand_compiler_main(void) __attribute__((noreturn));
/* The same for the argument "compilers", with orders on its descriptors, until
 * who has started it ends. `seal` gives up what is not needed for that, or
 * returns -errno and the step that failed. */
WSAND_API void wsand_compilers_main(int (*seal)(const char **ret_where))
    __attribute__((noreturn));

/* --- sandbox */

struct wsand_file {
    const char *path; /* below the mount's, without a leading slash */
    const void *data;
    size_t len;
};

/* A folder of the host in the sandbox; or, where host_path is NULL, one with
 * these files and the folders that they need, all of its user. Files that are
 * programs or begin with #! can be executed. What can be written counts against
 * the limits of files, and forks and snapshots have it as it is then. The
 * growth of a writable folder of the host has limits of its own (mount_limits).
 */
struct wsand_mount {
    const char *host_path, *guest_path;
    bool is_writable;
    const struct wsand_file *files;
    size_t n_files;
};

/* How much a writable folder of the host may grow from its mounting on: sizes
 * of files, and their number; ENOSPC beyond. 0: the sandbox's own limit. */
struct wsand_mount_limit {
    const char *guest_path; /* as in struct wsand_mount */
    uint64_t bytes, files;
};

/* A command of the host: a program in /usr/bin of the sandbox (or, where that
 * has one of this name already, in /usr/local/bin, which comes first), whose
 * work is done by `invoke`. That is called on the thread that runs the sandbox
 * when the program has read all of its standard input (none from a terminal).
 * It must not wait nor use the sandbox, and has the call answered by
 * wsand_call_reply, then or later. A root image is needed (-ENOEXEC); -EINVAL:
 * the name is not one of a file, -EEXIST: it is taken. */
struct wsand_call;
struct wsand_command {
    const char *name;
    const char *help; /* what `name --help` prints; NULL: invoke is asked */
    void (*invoke)(void *arg, struct wsand_call *call);
    void *arg;
};

/* A program of the host, at guest_path in the sandbox, executable. */
struct wsand_program {
    const char *host_path, *guest_path;
    bool is_checked; /* making the sandbox fails if it could not be run */
};

struct wsand_options {
    size_t size; /* sizeof(struct wsand_options) */
    const struct wsand_mount *mounts;
    size_t n_mounts;
    const struct wsand_program *programs;
    size_t n_programs;
    /* Limits; see docs/limits.md for what happens at each. 0: the default. */
    uint64_t memory_bytes, file_bytes, files, processes;
    uint64_t cpu_ms;                                    /* of one run */
    uint64_t stdout_bytes, stderr_bytes, command_bytes; /* of one run */
    uint64_t snapshots; /* kept at a time [64] */
    /* That snapshots keep and the state at the newest did not have [256 MiB]:
     * blocks of files, pages of shells, a fee for each file that differs. It is
     * looked at when a snapshot is made. */
    uint64_t snapshot_bytes;
    /* Folders, NULL-terminated, or NULL. With such a list (even an empty one)
     * only they can be written, for the functions of files too: EROFS
     * elsewhere. Each is like a mount of its own (-EXDEV, -EBUSY), is made
     * where it is missing, and belongs to its user then. Mounts go by their
     * is_writable; /dev and /proc are as usual. */
    const char *const *writable_paths;
    /* Names of the programs that may be run, NULL-terminated; NULL: all. What
     * is not among them fails with EACCES: status 126 and "Permission denied"
     * in a shell, whose builtins stay. A name is that of a file, or of a
     * symbolic link, which the host has given: in the root image, as a program
     * or command, or in a read-only mount; argv[0] and the path must end in one
     * too. Files that were changed, copied or renamed inside have no name and
     * are refused, also to root; scripts of the guest may be run if their
     * interpreter may. */
    const char *const *allow_tools;
    const struct wsand_command *commands;
    size_t n_commands;
    /* NAME=VALUE, NULL-terminated, or NULL: added to the shell's environment
     * at its first use. */
    const char *const *env;
    /* Deterministic: a fixed seed, and a clock that starts at clock_ns (since
     * 1970) and moves only while all processes sleep. */
    bool is_deterministic;
    uint64_t seed;
    int64_t clock_ns;
    /* Writes a line for each system call to this descriptor; 0: off. */
    int strace_fd;
    /* The folder that the shell begins in: an absolute path, which must be
     * there. NULL: /home/user. */
    const char *cwd;
    /* Programs with is_checked that cannot be run do not keep the sandbox from
     * being made: whoever runs one is told why, and gets the status 126. */
    bool keeps_bad_programs;
    /* Of writable folders of the host; those that are not named here have the
     * sandbox's own limits, file_bytes and files. */
    const struct wsand_mount_limit *mount_limits;
    size_t n_mount_limits;
    /* It is for wsand_run: a memory limit with which the shell cannot start is
     * refused (-EINVAL), with the minimum in the message. */
    bool needs_shell;
    /* The user that programs run as, and that what the host makes belongs to:
     * "user", of uid 1000, or "root"; NULL: "user". The sandbox is the
     * boundary, not the user: root is refused what limits, writable_paths,
     * allow_tools, read-only mounts and the host's own rights do not allow. */
    const char *user;
};

WSAND_API int wsand_sandbox_new(struct wsand_runtime *rt,
                                const struct wsand_options *o,
                                struct wsand_sandbox **ret,
                                struct wsand_error *err);
/* Kills what runs in it, waits for the calls and jobs that other threads have
 * on it (they fail with -ECANCELED), and frees everything. NULL is fine. Not
 * from a job of the same sandbox. */
WSAND_API void wsand_sandbox_free(struct wsand_sandbox *sb);

/* Has fn(sb, arg) called by a thread of the runtime's pool, when what came
 * before on this sandbox is done; several sandboxes' jobs run side by side.
 * Returns at once. -ECANCELED: the sandbox is being freed; jobs that wait then
 * are still called, but what they call fails. The pool also notes the state
 * that a job left (wsand_checkpoint), and gives background processes their
 * time; but those of deterministic sandboxes move only while something is run
 * in it. */
WSAND_API int wsand_post(struct wsand_sandbox *sb,
                         void (*fn)(struct wsand_sandbox *sb, void *arg),
                         void *arg, struct wsand_error *err);
/* The same on this thread, where nobody has the sandbox: fn has been called
 * when it returns 0. -EBUSY: it was not; somebody has it, or it is being
 * freed. */
WSAND_API int wsand_post_here(struct wsand_sandbox *sb,
                              void (*fn)(struct wsand_sandbox *sb, void *arg),
                              void *arg);
/* The same beside what the sandbox is busy with: fn is called soon, but what it
 * calls waits for its turn, unless it is said that it does not. */
WSAND_API int wsand_post_beside(struct wsand_sandbox *sb,
                                void (*fn)(struct wsand_sandbox *sb, void *arg),
                                void *arg, struct wsand_error *err);
/* Calls fn(sb, arg) without waiting for the command that the sandbox runs: on
 * this thread where nobody has the sandbox, or else on the thread that runs it,
 * between turns of its processes. fn has returned when this returns 0. It may
 * use the functions of files, wsand_state_changes (which then puts the shell as
 * it was before that command) and those that do not wait. -ECANCELED: it was
 * not called, as the sandbox is being freed. */
WSAND_API int wsand_beside(struct wsand_sandbox *sb,
                           void (*fn)(struct wsand_sandbox *sb, void *arg),
                           void *arg, struct wsand_error *err);
/* As wsand_post, for work on no sandbox, such as making or freeing one. All of
 * it is done when wsand_runtime_free returns. */
WSAND_API int wsand_runtime_post(struct wsand_runtime *rt,
                                 void (*fn)(void *arg), void *arg,
                                 struct wsand_error *err);

/* Mounts once more, over what is there; forks made from now on have it, and
 * wsand_snapshot_restore and wsand_reset leave it. -EBUSY: something is mounted
 * there. -EINVAL: a path of `files`; -EEXIST, -ENOTDIR: two of them are the
 * same, or one would be in the other; -ENOSPC. Nothing has changed then. */
WSAND_API int wsand_mount(struct wsand_sandbox *sb, const struct wsand_mount *m,
                          struct wsand_error *err);

/* --- running a program */

struct wsand_exec {
    size_t size;                           /* sizeof(struct wsand_exec) */
    const char *path;                      /* in the sandbox */
    const char *const *argv, *const *envp; /* NULL-terminated */
    const char *cwd;                       /* NULL: "/" */
    /* Descriptors of the host, passed through. If stdio[0] is a terminal, the
     * program gets one of its own, connected to it, and the host's is in raw
     * mode until the program ends. */
    int stdio[3];
    uint64_t timeout_ms; /* 0: none */
    /* A mount's folder in the sandbox that is the program's root directory once
     * it was loaded; cwd counts from there. NULL: "/". */
    const char *root;
};

struct wsand_result {
    size_t size;   /* sizeof(struct wsand_result) */
    int exit_code; /* -1 if a signal ended it */
    int signal;    /* 0 if it exited */
    bool timed_out, cancelled;
    char reason[120]; /* why it trapped: "out of bounds memory access" */
};

/* Runs one program to its end. -ENOENT, -EACCES, -ENOEXEC, ... when it cannot
 * be started. */
WSAND_API int wsand_exec(struct wsand_sandbox *sb, const struct wsand_exec *x,
                         struct wsand_result *ret, struct wsand_error *err);

/* --- the shell */

/* A sandbox with a root image has one resident bash: what a command changes
 * (folder, variables, functions, options, traps) is there for the next. */
struct wsand_run {
    size_t size; /* sizeof(struct wsand_run) */
    const char *command;
    size_t command_len;
    const void *input; /* standard input; NULL: empty */
    size_t input_len;
    uint64_t timeout_ms;               /* 0: none */
    size_t stdout_bytes, stderr_bytes; /* kept at most; 0: the limit */
    /* For this command alone: the working folder (an absolute path), and
     * variables (NAME=VALUE, NULL-terminated). The shell has its own back
     * afterwards, whatever the command did to them. NULL: its own. */
    const char *cwd;
    const char *const *env;
    bool merge_stderr; /* into standard output, in the order of writing */
    /* Called while the command runs with all that it writes to standard output
     * (1) and error (2), also past the limits. It must not use the sandbox, but
     * for wsand_cancel. NULL: none. */
    void (*on_output)(void *arg, int stream, const void *data, size_t len);
    void *on_output_arg;
    bool trace; /* note its last system calls, for wsand_output.trace */
    /* Of output past its limit, the first and the last part are kept, instead
     * of the first alone, with a line between them that says how many bytes
     * are missing. All together is not above the limit. There is no such line
     * with is_unmarked, or where the limit is below 256 bytes. */
    bool keep_ends, is_unmarked;
    /* Asked before on_output, on the same thread, with on_output_arg: how many
     * bytes it takes now. At 0 the programs that write wait, as for a full
     * pipe, until wsand_run_resume, but no longer than the time limit. Lines
     * of our own, such as "command timed out", are passed all the same. NULL:
     * any number. */
    size_t (*window)(void *arg);
};

/* A command's result. The bytes are freed by wsand_output_free, which leaves
 * it ready for the next run. */
struct wsand_output {
    size_t size; /* sizeof(struct wsand_output) */
    /* 128 + n after signal n; 124 after the time limit: what it has printed so
     * far is kept, standard error ends with "command timed out\n", and time_us
     * is the limit; 130 when cancelled. A command longer than command_bytes is
     * not run: 1, and standard error says so. */
    int exit_code;
    enum wsand_class error_class;
    bool timed_out, cancelled;
    char *out, *err; /* may be NULL when the length is 0 */
    size_t out_len, err_len;
    /* Bytes that are missing because of the limits; a UTF-8 character is
     * dropped as a whole. */
    uint64_t out_dropped, err_dropped;
    /* The limit (as in docs/limits.md) that was hit in a command that did not
     * end with 0, or NULL. A constant. */
    const char *limit;
    /* What background processes of earlier commands wrote since the last
     * run, at most 64 KiB, the newest. */
    char *background;
    size_t background_len;
    uint64_t time_us, cpu_ms;
    uint64_t max_memory_bytes; /* of all processes of the sandbox together */
    /* Where wsand_run.trace was set and exit_code is not 0: the last system
     * calls of the command's processes, at most 200 lines and 64 KiB. */
    char *trace;
    size_t trace_len;
};

/* Runs a command to its end. A command that is killed leaves the shell as the
 * one before left it. -ENOEXEC: there is no root image, or no shell in it;
 * -ENOENT, -ENOTDIR, -EACCES: `cwd`; -EINVAL: `env`; -EPERM: a variable of
 * `env` is read-only in the shell. */
WSAND_API int wsand_run(struct wsand_sandbox *sb, const struct wsand_run *run,
                        struct wsand_output *ret, struct wsand_error *err);
WSAND_API void wsand_output_free(struct wsand_output *out);
/* Ends what the call or job whose turn it is has running, or will run before
 * its turn is over; it does nothing while there is none. From any thread or
 * signal handler. */
WSAND_API void wsand_cancel(struct wsand_sandbox *sb);
/* Has the programs of the command that runs, if they wait for its `window`, ask
 * for it again. */
WSAND_API int wsand_run_resume(struct wsand_sandbox *sb,
                               struct wsand_error *err);
/* Notes the state that a command left, so that the next need not do it first:
 * to be called after the answer was given. */
WSAND_API int wsand_checkpoint(struct wsand_sandbox *sb,
                               struct wsand_error *err);
/* A copy of the sandbox between commands: files, shell, working folder, open
 * files; no other processes. The cost does not depend on what it holds. */
WSAND_API int wsand_fork(struct wsand_sandbox *sb, struct wsand_sandbox **ret,
                         struct wsand_error *err);

/* --- the environment: the variables that the shell exports
 *
 * They need the shell: -ENOEXEC as for wsand_run. -EINVAL: the name is not one
 * that a variable can have. -ETIMEDOUT: the shell does not answer, because
 * functions or traps of the user stand in the way. */

/* Any bytes but NUL. -EPERM: it is read-only; -ENOMEM: the limit. */
WSAND_API int wsand_env_set(struct wsand_sandbox *sb, const char *name,
                            const char *value, struct wsand_error *err);
/* *ret is freed with free(); NULL: there is no such variable. */
WSAND_API int wsand_env_get(struct wsand_sandbox *sb, const char *name,
                            char **ret, struct wsand_error *err);
/* -EPERM: it is read-only. One that does not exist is fine. */
WSAND_API int wsand_env_unset(struct wsand_sandbox *sb, const char *name,
                              struct wsand_error *err);
/* All as NAME=VALUE, sorted, NULL-terminated; one free() frees everything. */
WSAND_API int wsand_env_list(struct wsand_sandbox *sb, char ***ret,
                             struct wsand_error *err);

/* --- files
 *
 * Paths lead where they would lead inside: symbolic links, mounts and their
 * being read-only (-EROFS) included. One that does not begin with a slash is
 * relative to the shell's folder, as the last command that has ended left it;
 * `~` and `~/...` mean the home folder. These functions act as root; what they
 * make belongs to the sandbox's user. Errors are those of the system calls of
 * the same name. At a limit: "ENOSPC: file count limit reached (max: N)". */

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
    struct wsand_stat stat; /* of a symbolic link: its own */
};

struct wsand_list {
    struct wsand_entry *v; /* by name */
    size_t n;
};

#define WSAND_ALL      SIZE_MAX
#define WSAND_READ_MAX ((size_t)1 << 30)

/* Reads at most `length` bytes (WSAND_ALL: to the end) from `offset` on. Past
 * the end there are none. *ret_data is never NULL and is freed with free().
 * -EFBIG: it would be more than WSAND_READ_MAX. -EINVAL: neither a regular
 * file nor a folder (-EISDIR). */
WSAND_API int wsand_file_read(struct wsand_sandbox *sb, const char *path,
                              uint64_t offset, size_t length, void **ret_data,
                              size_t *ret_len, struct wsand_error *err);

struct wsand_write {
    size_t size; /* sizeof(struct wsand_write) */
    const char *path;
    const void *data;
    size_t len;
    uint32_t mode; /* 0: as it was, or 0644 for a new file */
    bool append;
    bool has_offset;
    uint64_t offset;
    bool parents; /* makes the folders that lead to it, if they are missing */
};

/* Writes a file, which is made if it is missing. Without `parents`, its folder
 * must be there.
 * Without `append` and `has_offset` the file is replaced as a whole: it has
 * either its old contents or the new ones, its owner stays, and it is another
 * inode. With them it is changed in place, and after an error a part of the
 * bytes may have been written. */
WSAND_API int wsand_file_write(struct wsand_sandbox *sb,
                               const struct wsand_write *w,
                               struct wsand_error *err);
/* What is in a folder, without "." and "..". */
WSAND_API int wsand_file_list(struct wsand_sandbox *sb, const char *path,
                              struct wsand_list *ret, struct wsand_error *err);
WSAND_API void wsand_list_free(struct wsand_list *list);
/* follow: what a symbolic link leads to, not the link. */
WSAND_API int wsand_file_stat(struct wsand_sandbox *sb, const char *path,
                              bool follow, struct wsand_stat *ret,
                              struct wsand_error *err);
/* mode 0: 0755. recursive: makes missing parents too, and a folder that is
 * there already is fine. */
WSAND_API int wsand_file_mkdir(struct wsand_sandbox *sb, const char *path,
                               uint32_t mode, bool recursive,
                               struct wsand_error *err);
/* A file, link or folder; one that is not empty only if recursive. After an
 * error a part may have been removed. -EBUSY: something is mounted there. */
WSAND_API int wsand_file_rm(struct wsand_sandbox *sb, const char *path,
                            bool recursive, struct wsand_error *err);
WSAND_API int wsand_file_rename(struct wsand_sandbox *sb, const char *from,
                                const char *to, struct wsand_error *err);
/* A link at `path`; `target` may be anything. */
WSAND_API int wsand_file_symlink(struct wsand_sandbox *sb, const char *target,
                                 const char *path, struct wsand_error *err);
WSAND_API int wsand_file_chmod(struct wsand_sandbox *sb, const char *path,
                               uint32_t mode, struct wsand_error *err);

/* --- snapshots
 *
 * A snapshot is the state of a sandbox between commands: its files (not those
 * of mounted host folders), and its shell as wsand_fork would copy it. It
 * belongs to its sandbox and is freed with it; forks do not have it. The cost
 * of all of these does not depend on what the sandbox holds. */

/* Ids are not used again. -ENOSPC: there are as many, or they would keep as
 * many bytes, as the options allow. */
WSAND_API int wsand_snapshot_create(struct wsand_sandbox *sb, uint64_t *ret,
                                    struct wsand_error *err);
/* Kills all processes and brings the state back, as often as wanted; on an
 * error before that, nothing has changed. -ENOENT: there is none. -EBUSY: it
 * has a file where a folder is mounted now. */
WSAND_API int wsand_snapshot_restore(struct wsand_sandbox *sb, uint64_t id,
                                     struct wsand_error *err);
/* -ENOENT: there is none. */
WSAND_API int wsand_snapshot_delete(struct wsand_sandbox *sb, uint64_t id,
                                    struct wsand_error *err);
/* The ids, the oldest first; *ret_ids is freed with free(). */
WSAND_API int wsand_snapshot_list(struct wsand_sandbox *sb, uint64_t **ret_ids,
                                  size_t *ret_n, struct wsand_error *err);
/* Kills all processes and brings back the state at the creation (of a fork:
 * the state it began with). Snapshots stay. */
WSAND_API int wsand_reset(struct wsand_sandbox *sb, struct wsand_error *err);
/* A snapshot as bytes (freed with free()), and back as a new snapshot of a
 * sandbox with the same root image and the same mounts (-EINVAL: another; or
 * damaged; -ENOSPC: limits). The bytes need not be trusted: they can describe
 * no more than what the sandbox's user could have made. Open files that the
 * user may not open now are /dev/null then. */
WSAND_API int wsand_snapshot_save(struct wsand_sandbox *sb, uint64_t id,
                                  void **ret_data, size_t *ret_len,
                                  struct wsand_error *err);
WSAND_API int wsand_snapshot_load(struct wsand_sandbox *sb, const void *data,
                                  size_t len, uint64_t *ret_id,
                                  struct wsand_error *err);

/* A process that ran when a state was taken, and that no copy of it has. */
struct wsand_lost_process {
    int pid;
    uint64_t process_id; /* of wsand_process_start; 0: started by a command */
    const char *command; /* its arguments, cut after 200 bytes */
};

/* Lists the processes of the state that sb was forked from, or that was brought
 * back into it last (restore, reset, state_apply): at most 4 KiB of them. The
 * caller frees *ret with one free(). */
WSAND_API int wsand_not_copied(struct wsand_sandbox *sb,
                               struct wsand_lost_process **ret, size_t *ret_n,
                               struct wsand_error *err);

/* --- durable state
 *
 * The state of a sandbox between commands (files but those of read-only mounts
 * and host folders, shell, history) as a map from keys to values. A key has at
 * most WSAND_KEY_MAX bytes; a value is below 5 KiB, but for commands of the
 * history (1 MiB) and the script (16 MiB). Snapshots are not part of it. */

#define WSAND_KEY_MAX 264

struct wsand_sink {
    /* value NULL: the key is removed. What is not 0 ends the call that calls
     * it, which returns that. It must not use the sandbox. */
    int (*put)(void *arg, const void *key, size_t key_len, const void *value,
               size_t len);
    void *arg;
};

/* Puts what has changed since the last call on this sandbox that returned 0, or
 * since wsand_state_apply; at first, all. What is put or removed by a call that
 * fails, the next puts or removes again. The cost is that of what has changed.
 * While a command runs (wsand_beside), the files are those of this moment, and
 * the shell is the one before the command.
 * with_script: also the shell as a script, for a state that shall outlive this
 * version of the shell; it stays until the shell changes. Where the shell does
 * not answer there is none. */
WSAND_API int wsand_state_changes(struct wsand_sandbox *sb,
                                  const struct wsand_sink *to, bool with_script,
                                  struct wsand_error *err);

/* A state to be, of a sandbox with the same root image and the same mounts. The
 * records, in the order of their keys, need not be trusted, as with
 * wsand_snapshot_load. -EINVAL: no state, or damaged. */
struct wsand_state;
WSAND_API int wsand_state_begin(struct wsand_sandbox *sb,
                                struct wsand_state **ret,
                                struct wsand_error *err);
WSAND_API int wsand_state_put(struct wsand_state *st, const void *key,
                              size_t key_len, const void *value, size_t len,
                              struct wsand_error *err);
/* Makes it the state of the sandbox, whose processes end; st is freed in any
 * case. Everything is checked first: on an error nothing has changed. -EINVAL:
 * no state, damaged, over another root image, or of another shell without a
 * script; -ENOSPC: limits; -ETIMEDOUT: the script has not ended within five
 * seconds. */
WSAND_API int wsand_state_apply(struct wsand_state *st,
                                struct wsand_error *err);
/* For one that was not applied. NULL is fine. */
WSAND_API void wsand_state_free(struct wsand_state *st);

/* --- export and import
 *
 * What was changed since the root image, as a tar in the format of an OCI
 * layer (whiteouts included), with one member more, .wasmsand.json: version,
 * environment, and the shell's state as a script. */

/* *ret_data is freed with free(). Mounts are not part of it, nor are sockets in
 * folders. -EINVAL: the name of a file begins with ".wh.", is that of the
 * member, or has a path of more than 4,095 bytes; -ETIMEDOUT as for
 * wsand_env_get. */
WSAND_API int wsand_export(struct wsand_sandbox *sb, void **ret_data,
                           size_t *ret_len, struct wsand_error *err);
/* Files, environment and shell become those of the export; processes end.
 * Everything is checked first: on an error nothing has changed. -EINVAL: no
 * export, or one that no sandbox could have made; -ENOSPC; -ETIMEDOUT: the
 * script has not ended within five seconds. */
WSAND_API int wsand_import(struct wsand_sandbox *sb, const void *data,
                           size_t len, struct wsand_error *err);

/* --- history: the commands that wsand_run has run, the newest 1,000 of them
 * and at most 1 MiB. Forks begin with their origin's; it is part of snapshots.
 */

/* The oldest first, NULL-terminated; one free() frees everything. */
WSAND_API int wsand_history_list(struct wsand_sandbox *sb, char ***ret,
                                 struct wsand_error *err);
WSAND_API void wsand_history_clear(struct wsand_sandbox *sb);

/* --- processes beside the shell
 *
 * A bash of its own for a command, with the environment that the shell has, or
 * had before the command that it runs now.
 * It runs while other calls are served and between them, until it ends, or the
 * sandbox is restored, reset or freed. */

struct wsand_process_options {
    size_t size;         /* sizeof(struct wsand_process_options) */
    const char *command; /* NULL: an interactive shell (with is_pty) */
    bool is_pty;
    uint16_t rows, cols;    /* [24, 80] */
    const char *cwd;        /* NULL: the shell's, as for paths of files */
    const char *const *env; /* added to the shell's; NULL-terminated */
    /* Called on the thread that runs the sandbox then; must not wait nor use
     * it, but for functions that do not wait. A terminal's output is stream 1.
     * After on_exit none is called. NULL: none. */
    void (*on_output)(void *arg, uint64_t id, int stream, const void *data,
                      size_t len);
    void (*on_exit)(void *arg, uint64_t id, int exit_code);
    void *arg;
    /* Called before any other, and before the process has run. NULL: none. */
    void (*on_start)(void *arg, uint64_t id);
    /* Asked before on_output, on the same thread. False: what it writes waits
     * in it, as for a full pipe, until wsand_process_resume. NULL: there is
     * always room. */
    bool (*has_room)(void *arg);
    /* As has_room, and asked after it: how many bytes on_output takes now. What
     * is left in a terminal when the process ends is passed all the same. NULL:
     * any number. */
    size_t (*window)(void *arg);
    /* "user" or "root"; NULL: the sandbox's. HOME, USER and LOGNAME are those
     * of another user than the sandbox's, unless `env` has them. */
    const char *user;
};

/* Does not wait for its turn: the process starts while a command runs. */
WSAND_API int wsand_process_start(struct wsand_sandbox *sb,
                                  const struct wsand_process_options *o,
                                  uint64_t *ret_id, struct wsand_error *err);
/* To its standard input or terminal. -EAGAIN: it has not read what came before
 * (1 MiB is kept; -EMSGSIZE: more at once). len 0: the end of input, -EPIPE
 * after it; on a terminal, what is typed for it (^D). -ESRCH: it has ended. */
WSAND_API int wsand_process_write(struct wsand_sandbox *sb, uint64_t id,
                                  const void *data, size_t len,
                                  struct wsand_error *err);
/* Of its terminal. -ENOTTY: it has none; -ESRCH. */
WSAND_API int wsand_process_resize(struct wsand_sandbox *sb, uint64_t id,
                                   uint16_t rows, uint16_t cols,
                                   struct wsand_error *err);
/* To it and all that it has started; SIGHUP also hangs its terminal up, if it
 * has one: what reads there gets the end. -ESRCH; -EINVAL: no such signal. */
WSAND_API int wsand_process_kill(struct wsand_sandbox *sb, uint64_t id, int sig,
                                 struct wsand_error *err);
/* There is room again for its output. -ESRCH. */
WSAND_API int wsand_process_resume(struct wsand_sandbox *sb, uint64_t id,
                                   struct wsand_error *err);

struct wsand_process {
    uint64_t id;
    char *command; /* "bash" for an interactive shell */
    bool is_pty, has_ended;
    int exit_code; /* when it has ended: 128 + n after signal n */
};

/* The last 64 that have ended, and those that run; freed with one free(). */
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
};

/* Lives until the call is answered. */
WSAND_API const struct wsand_call_info *
wsand_call_info(const struct wsand_call *call);
/* Ends the call, once, from any thread; also when the process, or its sandbox,
 * is gone by then. exit_code is taken modulo 256. */
WSAND_API void wsand_call_reply(struct wsand_call *call, int exit_code,
                                const void *out, size_t out_len,
                                const void *err, size_t err_len);

/* --- status */

struct wsand_status {
    size_t size; /* sizeof(struct wsand_status) */
    /* In use now. Files and folders of the root image cost nothing. */
    uint64_t processes, memory_bytes, files, file_bytes, snapshots;
    uint64_t cpu_ms; /* of all runs */
    struct {
        uint64_t processes, memory_bytes, files, file_bytes, snapshots;
        uint64_t cpu_ms; /* of one run; 0: no limit */
    } max;
};

WSAND_API int wsand_status(const struct wsand_sandbox *sb,
                           struct wsand_status *ret, struct wsand_error *err);

/* --- for builds and terminals */

/* Compiles every program of the root image, as far as the cache does not have
 * them, and copies the code into a folder, made if missing: the shipped_dir of
 * those who get it with the root image. */
WSAND_API int wsand_precompile(struct wsand_runtime *rt, const char *dir,
                               struct wsand_error *err);

/* Starts a program that offers to be resident (a shell) and writes it to hfd
 * as a program that begins initialised: for building root images. */
WSAND_API int wsand_freeze(struct wsand_sandbox *sb, const struct wsand_exec *x,
                           int hfd, struct wsand_error *err);

/* Sends a signal to all processes of the program that runs now. */
WSAND_API void wsand_signal(struct wsand_sandbox *sb, int sig);
/* The host's terminal has another size: tell the program's. */
WSAND_API void wsand_window_changed(struct wsand_sandbox *sb);

#ifdef __cplusplus
}
#endif
#endif
