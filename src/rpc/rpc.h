/* The server's objects.
 *
 * The loop runs on one of two threads and owns the sandboxes and their states.
 * Jobs, one for each request, do the work on a sandbox: on the library's
 * threads, or on the loop's if there is nothing else to do (leader.h). A job
 * posts the work that it leaves to the loop (loop_post). */
#ifndef RPC_RPC_H
#define RPC_RPC_H

#include "base/list.h"
#include "base/os_time.h"
#include "rpc/guard.h"
#include "rpc/leader.h"
#include "rpc/methods.h"
#include "rpc/server.h"
#include "rpc/tidy.h"
#include "rpc/worker.h"
#include "wasmsand.h"
#include "wire/backlog.h"
#include "wire/frame.h"
#include "wire/message.h"
#include "wire/writer.h"

enum {
    SLOT_BUCKETS = 256,
    RPC_BYTES = 8388608, /* of a line, unless `create` says otherwise */
};

struct stream;

/* Work for the loop. It is a member of the object that it is about, so that
 * posting it cannot fail. */
struct work;
typedef void work_fn(struct work *w);
struct work {
    struct list link;
    work_fn *run;
};

struct server {
    const struct server_options *options;
    struct wsand_runtime *rt;
    struct writer out;
    int wake_hfd;
    int signal_hfd;       /* of those that end it */
    struct leader leader; /* the loop's threads */
    int64_t started_ms;
    struct worker *worker;       /* NULL: it is none */
    atomic_size_t n_requests;    /* without an answer */
    atomic_size_t request_bytes; /* of their lines */
    atomic_bool wants_fewer;     /* the loop waits until there are fewer */
    atomic_bool has_stalled;     /* processes wait for the client to read */
    atomic_bool is_refusing;     /* what has not begun will not any more */

    /* The loop's alone. */
    struct frame in;
    struct backlog waiting; /* lines behind too many requests */
    size_t n_urgent;        /* served while the client does not read */
    size_t n_over; /* not 0: the line is refused, so many wait already */
    int failure;   /* errno of input or output, or 0 */
    struct guard guard;
    struct tidy tidy;
    struct config *defaults; /* of the command line and its file */
    struct slot *root;       /* NULL: not created */
    struct list slots[SLOT_BUCKETS];
    size_t n_slots;
    uint64_t last_id;
    bool is_line;           /* the protocol of the last valid line */
    bool is_ending;         /* end of input, kill, a signal */
    int end_signal;         /* the signal; 0: none */
    bool is_deaf;           /* kill, a signal: nothing more is read */
    bool is_cancelling;     /* what runs at the end is cancelled */
    struct request *killer; /* answered at the end */

    pthread_mutex_t lock; /* nothing else is taken under it, but out.lock */
    struct list posted;
    struct list callbacks;
    uint64_t last_callback;
};

/* --- requests (request.c) */

struct request {
    struct list link; /* in slot->pending, or in process->waiters */
    struct server *srv;
    struct message *msg;
    const struct method *method;
    const struct json *params;
    char *id; /* as JSON; NULL: a notification */
    struct slot *slot;
    struct wsand_sandbox *sb; /* the slot's, in a job */
    bool is_job;              /* and it has the sandbox's lease */
    bool is_held;             /* its answer is sent by answer_held */
    uint64_t commit;          /* of a worker: what the job has changed; or 0 */
    struct buf answer;
    /* of a run; guarded by srv->lock */
    struct list run_link; /* in slot->runs */
    bool is_running, is_cancelled;
    struct stream *stream; /* while it runs; NULL: its output is not sent */
    uint64_t number;       /* for what the handler wants to remember */
    struct work work;      /* of sandbox.destroy */
};

/* Takes a reference to msg. NULL: no memory. */
struct request *request_new(struct server *srv, struct message *msg,
                            const struct method *m, const struct json *params,
                            OWN char *id);
bool request_is_line(const struct request *q);

/* One of these ends every request. */
void answer_ok(OWN struct request *q);
void answer_error(OWN struct request *q, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void answer_failure(OWN struct request *q, const struct wsand_error *err);
/* {"ok":true} or the failure. */
void answer_status(OWN struct request *q, int r, const struct wsand_error *err);
/* A result that is written between these two into q->answer: one JSON value;
 * for the line protocol, members that follow others. */
struct buf *answer_begin(struct request *q);
void answer_end(OWN struct request *q);
/* Sends the answer that one of these has left in a request with is_held. */
void answer_held(OWN struct request *q);
/* The member notCopied of a result, if it would not be empty (do_state.c). */
void put_not_copied(struct buf *b, struct wsand_sandbox *sb);
/* An error that belongs to no request, in the protocol of the last valid line;
 * msg: of a batch, or NULL; id: as JSON, or NULL. */
void send_error(struct server *srv, struct message *msg, const char *id,
                int code, const char *text);
void send_line_error(struct server *srv, const char *type, const char *id,
                     const char *text);
/* For what gets no answer: in a batch it counts. */
void answer_nothing(struct server *srv, struct message *msg);

/* Parameters, which have been checked. NULL is an absent one. */
const struct json *param(const struct request *q, const char *name);
const char *param_text(const struct request *q, const char *name);
struct text param_string(const struct request *q, const char *name);
int64_t param_int(const struct request *q, const char *name, int64_t absent);
bool param_bool(const struct request *q, const char *name);
bool param_is_base64(const struct request *q);
uint32_t param_mode(const struct request *q);
/* NAME=VALUE, NULL-terminated; one free() frees it. NULL: absent, or no memory
 * (-ENOMEM). */
int param_env(const struct request *q, const char *name, char ***ret);
int env_from_json(const struct json *object, char ***ret);
/* "12" as sandboxes are named; 0: there can be no such sandbox. */
uint64_t parse_sandbox_id(struct text t);
uint64_t param_sandbox_id(const struct request *q);
/* The decoded bytes, freed with free(). -EINVAL: not base64. */
int decode_base64(struct text t, char **ret, size_t *ret_len);

/* --- sandboxes (slot.c) */

enum slot_phase { SLOT_CREATING, SLOT_READY, SLOT_OFFLOADED, SLOT_DESTROYED };

struct slot {
    struct list link;
    struct server *srv;
    uint64_t id; /* 0: the root */
    char *label;
    int64_t created_ms;
    enum slot_phase phase; /* the loop's */
    struct wsand_sandbox *sb;
    struct config *config;
    struct list pending;   /* requests that wait for SLOT_READY; the loop's */
    struct list runs;      /* unserved; guarded by srv->lock */
    struct list processes; /* guarded by srv->lock */
    struct transfer *export, *import; /* of jobs on sb */
};

/* A new one in SLOT_CREATING, in the table unless it is the root. */
struct slot *slot_new(struct server *srv, uint64_t id, struct config *config);
/* Has what waits served, or refused, as the new state says. */
void slot_settle(struct slot *slot, enum slot_phase phase);
void slot_free(struct slot *slot);
struct slot *slot_find(struct server *srv, uint64_t id);
/* "12", or "root". */
void slot_name(const struct slot *slot, char ret[24]);
/* Serves the request in the slot's order; the loop only. */
void slot_submit(struct slot *slot, OWN struct request *q);
/* Calls the handler of the request `arg`, which has the sandbox to itself or is
 * BESIDE. */
void request_handle(struct wsand_sandbox *sb, void *arg);
/* Makes the slot's sandbox from its configuration; then done(arg, sb, err) is
 * called on the loop. sb is NULL on failure. */
typedef void created_fn(void *arg, struct wsand_sandbox *sb,
                        const struct wsand_error *err);
void slot_create(struct slot *slot, created_fn *done, void *arg);
/* The same at once, on this thread: for what config_is_quick. */
void slot_create_here(struct slot *slot, created_fn *done, void *arg);
/* Frees sb on another thread, then has done(w) called on the loop. */
void sandbox_free_later(struct server *srv, struct wsand_sandbox *sb,
                        struct work *w, work_fn *done);

/* Makes the root sandbox; q (or NULL) is answered when it is there. False: no
 * memory, and q was answered. */
bool root_create(struct server *srv, struct config *c, OWN struct request *q);

/* --- the configuration of sandboxes (config.c) */

struct extension {
    struct config *config;
    const struct json *json;
    char *name, *help;
    bool has_command;
};

struct config {
    atomic_int refs;
    struct server *srv;
    struct message *msg; /* holds params */
    const struct json *params;
    const struct config *base; /* asked for what params have not */
    bool is_line;              /* for the line protocol */
    uint64_t timeout_ms, line_timeout_ms, stdout_bytes, stderr_bytes,
        command_bytes, rpc_bytes;
    bool has_storage;
    struct extension *extensions;
    size_t n_extensions;
};

/* params: of `create`, checked; NULL: none. Takes a reference to msg. */
struct config *config_new(struct server *srv, struct message *msg,
                          const struct json *params, bool is_line);
struct config *config_get(struct config *c);
void config_put(struct config *c);
DEFINE_CLEANUP(struct config *, config_put)
/* A parameter of `create`, or NULL. */
const struct json *config_value(const struct config *c, const char *name);
uint64_t config_number(const struct config *c, const char *name,
                       uint64_t absent);
uint64_t config_limit(const struct config *c, const char *name,
                      uint64_t absent);
/* A number that was checked; NULL is 0. */
uint64_t number_from_json(const struct json *v);
/* As many as the object has, with decoded contents; one free() frees them. */
int files_from_json(const struct json *object, struct wsand_file **ret,
                    struct wsand_error *err);
/* Is a sandbox made without reading files of the host, or copying any? */
bool config_is_quick(const struct config *c);
/* A sandbox as configured. */
int config_create_sandbox(const struct config *c, struct wsand_sandbox **ret,
                          struct wsand_error *err);
/* err with a message of ours; returns -errnum. */
int fail(struct wsand_error *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "ENOENT: no such file or directory: /path". */
int fail_path(struct wsand_error *err, int errnum, const char *path);

/* --- requests to the client (callback.c) */

/* The answer to a request of ours; the loop, or, when there is none in time,
 * with result NULL and the reason in `error`. */
typedef void callback_done(void *arg, const struct json *result,
                           const char *error);
/* Sends {"id":"cb_<n>","method":method,"params":params}. deadline_ns 0: never.
 * done may be called before this returns, and is called once. */
void callback_send(struct server *srv, const char *method,
                   const struct buf *params, int64_t deadline_ns,
                   callback_done *done, void *arg);
/* Is this the answer to a request of ours? Then it is dealt with. */
bool callback_reply(struct server *srv, const struct json *object);
/* Ends those whose time is over, or all. The next deadline, or 0. */
int64_t callback_expire(struct server *srv, bool all);
/* Is there one without an answer? */
bool callback_is_pending(struct server *srv);
/* {"NAME":"VALUE",...} from NAME=VALUE, NULL-terminated. */
void put_env(struct buf *b, const char *const *env);
/* extensions.c: the command that lists them, where there are any. */
#define EXTENSIONS_COMMAND "extensions"
struct wsand_command extensions_command(const struct config *c);
const struct extension *extension_find(const struct config *c,
                                       const char *name);
/* The work of a host command (extension.c). */
void extension_invoke(void *arg, struct wsand_call *call);

/* --- the loop (loop.c) */

/* Has w->run called on the loop. `w` is in an object that lives until then. */
void loop_post(struct server *srv, struct work *w, work_fn *run);
void loop_wake(struct server *srv);
/* Until everything that was asked has an answer, but for `kill`. */
void loop_run(struct server *srv, int in_hfd);
/* Sends the rest, as far as the client reads it. */
void loop_drain(struct server *srv);

/* --- lines of input (input.c); the loop only */

void input_init(struct server *srv);
void input_fini(struct server *srv);
/* Serves the lines that were read and those that wait, as many as can be, until
 * one of them lends the loop. False: there are more. */
bool input_take(struct server *srv);
/* Is there more input, behind the line that is being served? */
bool input_has_more(const struct server *srv);
/* So much is under way that lines have to wait. */
bool input_is_full(struct server *srv);
/* So much waits, without the client reading any answer, that nothing is read
 * from it. */
bool input_is_stuck(struct server *srv);
/* Cancels a run of the slot whose line waits; id: as JSON, or NULL: the oldest.
 * False: none waits. */
bool input_cancel(struct server *srv, const struct slot *slot, const char *id);
/* Was the run cancelled while its line waited? Asked once. */
bool input_was_cancelled(struct server *srv, const struct slot *slot,
                         const char *id);

/* A line of input (dispatch.c). */
void dispatch_line(struct server *srv, const char *line, size_t len);
void dispatch_too_large(struct server *srv);

/* --- handlers that others call */

/* Forgets a run that will not begin. */
void run_forget(struct request *q);
/* Lets the run with this id, if it has not ended, send so many bytes more. */
void run_add_window(struct slot *slot, const char *id, int64_t bytes);
/* Marks all runs as cancelled. */
void run_cancel_all(struct server *srv);
void process_free_all(struct slot *slot);
void process_refuse_waiters(struct slot *slot);
/* The client has read: those whose output waits for that go on. */
void process_resume_all(struct slot *slot);
void transfer_free(struct transfer *t);

/* --- small things (util.c) */

void say(const struct server *srv, enum log_level level, const char *format,
         ...) __attribute__((format(printf, 3, 4)));

#endif
