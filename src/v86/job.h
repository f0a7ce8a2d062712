/* A request, and the state of those that talk to the agent. */
#ifndef V86_JOB_H
#define V86_JOB_H

#include "base/list.h"
#include "v86/sandbox.h"
#include "v86/save.h"
#include "v86/server.h"

struct v86_job {
    struct call call;
    struct v86_sandbox *sb; /* NULL: the request needs none */
    /* Gets the messages of the agent. NULL: the job needs no agent. */
    void (*on_message)(struct v86_job *j, uint32_t type, const uint8_t *p,
                       uint32_t len);
    /* The machine has stopped, and there is a new one. */
    void (*on_death)(struct v86_job *j, const char *why);
    /* The machine answers on its control socket. NULL: nothing is expected. */
    void (*on_control)(struct v86_job *j);
    /* At this time, on_timeout is called. 0: never. */
    int64_t deadline_ns;
    void (*on_timeout)(struct v86_job *j);
    /* of runs and of reading */
    struct buf out, err;
    uint64_t out_dropped, err_dropped;
    int64_t start_ns;
    bool has_timed_out, is_cancelled, is_streaming;
    bool is_copied; /* blocks of the disk are copied, or were */
    struct v86_copy copy;
    struct stream stream;
    struct text input;
    size_t input_at;
    char *owned; /* decoded bytes */
};

static inline struct v86_job *
v86_job_of(struct call *q)
{
    return CONTAINER_OF(q, struct v86_job, call);
}

static inline struct v86_server *
v86_server_of(const struct call *q)
{
    return CONTAINER_OF(q->peer, struct v86_server, peer);
}

static inline bool
v86_is_base64(const struct call *q)
{
    return text_is(param_string(q, "encoding"), "base64");
}

/* Handlers. Each answers its call, now or when the agent has. */
typedef void v86_handler(struct call *q);
v86_handler v86_do_run, v86_do_cancel, v86_do_create, v86_do_reset,
    v86_do_line_reset, v86_do_status, v86_do_line_status, v86_do_kill,
    v86_do_files_read, v86_do_files_write, v86_do_line_read, v86_do_line_write,
    v86_do_files_list, v86_do_files_stat, v86_do_files_mkdir, v86_do_files_rm,
    v86_do_files_rename, v86_do_files_chmod, v86_do_files_symlink,
    v86_do_sandbox_fork, v86_do_sandbox_create, v86_do_sandbox_list,
    v86_do_sandbox_destroy, v86_do_snapshot_create, v86_do_snapshot_restore,
    v86_do_snapshot_delete, v86_do_snapshot_list, v86_do_env_set,
    v86_do_env_get, v86_do_env_unset, v86_do_env_list, v86_do_export,
    v86_do_import, v86_do_worker_create, v86_do_state_load, v86_do_state_commit;

/* Ends a run with SIGKILL; it is answered as soon as the agent reports it. */
void v86_run_kill(struct v86_job *j);
/* Sends a script for the shell, and takes it from `script`. */
void v86_run_script(struct call *q, OWN struct buf *script);
/* Appends a text as one word of the shell. */
void v86_put_quoted(struct buf *b, struct text t);
/* Answers with an error of the guest's file system. */
void v86_answer_errno(OWN struct call *q, int error, const char *path);
/* Returns the bytes of a parameter in base64. p is NULL after an answer. */
struct text v86_decode(struct v86_job *j, const char *name);
/* Returns the error number of AGENT_RESULT. */
int v86_result(const uint8_t *p, uint32_t len);
/* on_death of requests that are not runs. */
void v86_job_on_death(struct v86_job *j, const char *why);
/* Returns the parameter `mode`. */
uint32_t v86_mode(const struct call *q, uint32_t absent);

#endif
