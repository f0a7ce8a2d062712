/* wasmsand: a computer for untrusted programs.
 *
 * A runtime holds what sandboxes share: the engine and its compiled code. A
 * sandbox is a computer of its own: files, processes, limits. Both are opaque;
 * nothing here is global.
 *
 * Functions that can fail return 0, or a negative errno with the details in
 * *err (which may be NULL). Structures of options begin with their size, so
 * that later versions can add members; a zeroed member means the default.
 *
 * Threads: a runtime may be used by several at a time, a sandbox by one;
 * wsand_signal and wsand_window_changed may be called from anywhere, signal
 * handlers included. */
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

struct wsand_error {
    int errnum;        /* as in errno.h, positive */
    char message[256]; /* names what was wrong */
    bool is_program;   /* it is the program that cannot be run */
};

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
    /* Executable that compiles the programs which guests write, each in a
     * process of its own: a wasm-sandbox, or any that calls wsand_compiler_main
     * when its first argument is "compile". NULL: such programs are refused.
     * The host must not ignore SIGCHLD, nor wait for children that are not
     * its own. */
    const char *compiler;
};

WSAND_API int wsand_runtime_new(const struct wsand_runtime_options *o,
                                struct wsand_runtime **ret,
                                struct wsand_error *err);
/* After its last sandbox was freed. NULL is fine. */
WSAND_API void wsand_runtime_free(struct wsand_runtime *rt);

/* The work of a `compiler`: from descriptor 0 to descriptor 1, in a jail. Ends
 * the process. */
WSAND_API void wsand_compiler_main(void) __attribute__((noreturn));

/* --- sandbox */

/* A folder of the host in the sandbox. */
struct wsand_mount {
    const char *host_path, *guest_path;
    bool is_writable;
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
    uint64_t memory_bytes, file_bytes, files, processes, cpu_ms, output_bytes;
    /* Deterministic: a fixed seed, and a clock that starts at clock_ns (since
     * 1970) and moves only while all processes sleep. */
    bool is_deterministic;
    uint64_t seed;
    int64_t clock_ns;
    /* Writes a line for each system call to this descriptor; 0: off. */
    int strace_fd;
};

WSAND_API int wsand_sandbox_new(struct wsand_runtime *rt,
                                const struct wsand_options *o,
                                struct wsand_sandbox **ret,
                                struct wsand_error *err);
/* Kills what runs in it and frees everything. NULL is fine. */
WSAND_API void wsand_sandbox_free(struct wsand_sandbox *sb);

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
};

struct wsand_result {
    int exit_code; /* -1 if a signal ended it */
    int signal;    /* 0 if it exited */
    bool timed_out;
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
};

/* A command's result. The bytes are freed by wsand_output_free. */
struct wsand_output {
    int exit_code; /* 128 + n after signal n, 124 after the time limit */
    bool timed_out;
    char *out, *err; /* may be NULL when the length is 0 */
    size_t out_len, err_len;
    uint64_t out_dropped, err_dropped; /* bytes past the limits */
    /* What background processes of earlier commands wrote since the last
     * run, at most 64 KiB, the newest. */
    char *background;
    size_t background_len;
    uint64_t time_us;
};

/* Runs a command to its end. A command that is killed leaves the shell as the
 * one before left it. -ENOEXEC: there is no root image, or no shell in it. */
WSAND_API int wsand_run(struct wsand_sandbox *sb, const struct wsand_run *run,
                        struct wsand_output *ret, struct wsand_error *err);
WSAND_API void wsand_output_free(struct wsand_output *out);
/* Notes the state that a command left, so that the next need not do it first:
 * to be called after the answer was given. */
WSAND_API int wsand_checkpoint(struct wsand_sandbox *sb,
                               struct wsand_error *err);
/* Runs background processes until hfd can be read (or at its end). */
WSAND_API void wsand_idle(struct wsand_sandbox *sb, int hfd);
/* A copy of the sandbox between commands: files, shell, working folder, open
 * files; no other processes. The cost does not depend on what it holds. */
WSAND_API int wsand_fork(struct wsand_sandbox *sb, struct wsand_sandbox **ret,
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
