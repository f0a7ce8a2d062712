/* The server inside Node: a native addon, with Node's stable interface only.
 *
 * Problem: a server in a process of its own costs two switches of processes
 * and two of Node's streams for each request.
 *
 * Idea: the same server runs on a thread of this process. Requests go through a
 * pipe, whose other end the server's loop waits for. The server delivers each
 * line of output to a queue here and wakes JavaScript, which takes all lines at
 * once. For a synchronous call JavaScript waits for the queue instead.
 *
 * It is right because the queue has one lock, and JavaScript is woken whenever
 * a line arrives at an empty queue that nobody waits for. The queue is not
 * bounded: the package asks for windows of output (docs/rpc.md). */
#include "base/buf.h"
#include "base/own.h"
#include "rpc/server.h"
#include "wasmsand.h"

#include <errno.h>
#include <fcntl.h>
#include <node_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXTS_MAX = 64, SPINS = 4000 };

struct addon_server {
    struct server_options options;
    int in_hfds[2]; /* the server reads from the first */
    pthread_t thread;
    napi_threadsafe_function wake; /* calls the function of JavaScript */
    char *texts[TEXTS_MAX];        /* that the options refer to */
    size_t n_texts;
    const char *folders[TEXTS_MAX];
    struct wsand_image images[TEXTS_MAX];
    bool is_used; /* keeps the program alive */

    atomic_bool has_lines, has_ended;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct buf lines; /* for JavaScript, not read yet */
    bool is_waiting;  /* JavaScript waits for `changed` */
    bool is_woken;    /* `wake` was called, and has not run yet */
};

/* --- the server's side */

/* Wakes JavaScript in the way that it waits. Called with the lock. */
static void
addon_wake(struct addon_server *s)
{
    if (s->is_waiting)
        (void)pthread_cond_signal(&s->changed);
    else if (!s->is_woken)
        s->is_woken = napi_call_threadsafe_function(
                          s->wake, NULL, napi_tsfn_nonblocking) == napi_ok;
}

static void
addon_deliver(void *arg, const char *line, size_t len)
{
    struct addon_server *s = arg;

    pthread_mutex_lock(&s->lock);
    buf_add(&s->lines, line, len);
    s->has_lines = true;
    addon_wake(s);
    pthread_mutex_unlock(&s->lock);
}

/* Signals of the program are for its other threads. Those of faults stay, since
 * the engine needs them. */
static void
addon_block_signals(void)
{
    sigset_t set;

    sigfillset(&set);
    sigdelset(&set, SIGSEGV);
    sigdelset(&set, SIGBUS);
    sigdelset(&set, SIGFPE);
    sigdelset(&set, SIGILL);
    sigdelset(&set, SIGTRAP);
    (void)pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static void *
addon_serve(void *arg)
{
    struct addon_server *s = arg;

    addon_block_signals();
    (void)server_main(&s->options, s->in_hfds[0], -1);
    pthread_mutex_lock(&s->lock);
    s->has_ended = true;
    s->has_lines = true;
    addon_wake(s);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* --- values of JavaScript */

static napi_value
addon_throw(napi_env env, const char *text)
{
    (void)napi_throw_error(env, NULL, text);
    return NULL;
}

/* Returns the text of a value, or NULL: it is not a string, or no memory. */
static OWN char *
addon_text(napi_env env, napi_value v, size_t *ret_len)
{
    size_t len = 0;

    if (napi_get_value_string_utf8(env, v, NULL, 0, &len) != napi_ok)
        return NULL;
    char *p = malloc(len + 1);
    if (p && napi_get_value_string_utf8(env, v, p, len + 1, &len) != napi_ok) {
        free(p);
        return NULL;
    }
    if (p && ret_len)
        *ret_len = len;
    return p;
}

/* Returns a text that lives as long as the server; NULL: there is none. */
static const char *
addon_keep(napi_env env, struct addon_server *s, napi_value v)
{
    char *p = s->n_texts < TEXTS_MAX ? addon_text(env, v, NULL) : NULL;

    if (p)
        s->texts[s->n_texts++] = p;
    return p;
}

static napi_value
addon_member(napi_env env, napi_value object, const char *name)
{
    napi_value v = NULL;

    (void)napi_get_named_property(env, object, name, &v);
    return v;
}

static napi_value
addon_element(napi_env env, napi_value list, uint32_t i)
{
    napi_value v = NULL;

    (void)napi_get_element(env, list, i, &v);
    return v;
}

static uint32_t
addon_length(napi_env env, napi_value list)
{
    uint32_t n = 0;

    (void)napi_get_array_length(env, list, &n);
    return n < TEXTS_MAX / 4 ? n : TEXTS_MAX / 4;
}

/* --- open and close */

static void
addon_free(struct addon_server *s)
{
    for (size_t i = 0; i < s->n_texts; i++)
        free(s->texts[i]);
    for (size_t i = 0; i < 2; i++)
        if (s->in_hfds[i] >= 0)
            (void)close(s->in_hfds[i]);
    buf_fini(&s->lines);
    (void)pthread_cond_destroy(&s->changed);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

static void
addon_close_input(struct addon_server *s)
{
    if (s->in_hfds[1] >= 0)
        (void)close(s->in_hfds[1]);
    s->in_hfds[1] = -1;
}

/* At the end of Node's environment: of the program, or of a worker thread. */
static void
addon_finish(void *arg)
{
    struct addon_server *s = arg;

    addon_close_input(s);
    (void)pthread_join(s->thread, NULL);
    (void)napi_release_threadsafe_function(s->wake, napi_tsfn_abort);
    addon_free(s);
}

static void
addon_read_options(napi_env env, napi_value o, struct addon_server *s)
{
    struct server_options *so = &s->options;
    napi_value folders = addon_member(env, o, "folders");
    napi_value images = addon_member(env, o, "images");
    uint32_t n = addon_length(env, folders);

    so->compiler = addon_keep(env, s, addon_member(env, o, "server"));
    so->root_image = addon_keep(env, s, addon_member(env, o, "root"));
    so->shipped_dir = addon_keep(env, s, addon_member(env, o, "code"));
    so->broker = addon_keep(env, s, addon_member(env, o, "broker"));
    for (uint32_t i = 0; i < n; i++)
        s->folders[i] = addon_keep(env, s, addon_element(env, folders, i));
    n = addon_length(env, images);
    for (uint32_t i = 0; i < n; i++) {
        napi_value pair = addon_element(env, images, i);
        s->images[i] = (struct wsand_image){
            addon_keep(env, s, addon_element(env, pair, 0)),
            addon_keep(env, s, addon_element(env, pair, 1))};
    }
    so->images = s->images;
    so->n_images = n;
    so->allow_mount = s->folders;
    so->tools = s->folders + TEXTS_MAX - 1; /* none */
    so->log_level = LOG_WARN;
    so->deliver = addon_deliver;
    so->deliver_arg = s;
}

static struct addon_server *
addon_new(void)
{
    struct addon_server *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->in_hfds[0] = s->in_hfds[1] = -1;
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->changed, NULL);
    buf_init(&s->lines, SIZE_MAX);
    if (pipe2(s->in_hfds, O_CLOEXEC) == 0)
        return s;
    addon_free(s);
    return NULL;
}

/* Begins the thread of the server, and its end with that of the environment. */
static bool
addon_start(napi_env env, struct addon_server *s, napi_value wake)
{
    napi_value name;

    if (napi_create_string_utf8(env, "wasmsand", NAPI_AUTO_LENGTH, &name) !=
            napi_ok ||
        napi_create_threadsafe_function(env, wake, NULL, name, 0, 1, NULL, NULL,
                                        NULL, NULL, &s->wake) != napi_ok)
        return false;
    (void)napi_unref_threadsafe_function(env, s->wake);
    if (pthread_create(&s->thread, NULL, addon_serve, s) == 0 &&
        napi_add_env_cleanup_hook(env, addon_finish, s) == napi_ok)
        return true;
    (void)napi_release_threadsafe_function(s->wake, napi_tsfn_abort);
    return false;
}

/* open(options, wake): starts a server. wake() is called when lines wait. */
static napi_value
addon_open(napi_env env, napi_callback_info info)
{
    struct addon_server *s = addon_new();
    napi_value argv[2], handle = NULL;
    size_t argc = 2;

    if (!s)
        return addon_throw(env, "out of memory or descriptors");
    (void)napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
    addon_read_options(env, argv[0], s);
    if (napi_create_external(env, s, NULL, NULL, &handle) == napi_ok &&
        addon_start(env, s, argv[1]))
        return handle;
    addon_free(s);
    return addon_throw(env, "no memory for a thread");
}

/* --- requests and answers */

static struct addon_server *
addon_of(napi_env env, napi_callback_info info, size_t argc, napi_value *argv)
{
    void *p = NULL;

    (void)napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
    if (napi_get_value_external(env, argv[0], &p) != napi_ok)
        return NULL;
    return p;
}

/* The end of the server is noticed by the reader of its lines. */
static void
addon_write(const struct addon_server *s, const char *p, size_t len)
{
    while (len) {
        ssize_t n = write(s->in_hfds[1], p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        p += n;
        len -= (size_t)n;
    }
}

/* send(handle, lines): passes lines, with their newlines, to the server. */
static napi_value
addon_send(napi_env env, napi_callback_info info)
{
    napi_value argv[2];
    struct addon_server *s = addon_of(env, info, 2, argv);
    size_t len = 0;

    if (!s || s->in_hfds[1] < 0)
        return addon_throw(env, "the server was closed");
    char *p = addon_text(env, argv[1], &len);
    if (!p)
        return addon_throw(env, "the lines are not a string");
    addon_write(s, p, len);
    free(p);
    return NULL;
}

/* A short answer comes sooner than a thread could be woken. */
static void
addon_wait(struct addon_server *s)
{
    for (int i = 0; i < SPINS && !s->has_lines; i++)
        __builtin_ia32_pause();
    pthread_mutex_lock(&s->lock);
    s->is_waiting = true;
    while (!s->lines.len && !s->lines.error && !s->has_ended)
        (void)pthread_cond_wait(&s->changed, &s->lock);
    s->is_waiting = false;
    pthread_mutex_unlock(&s->lock);
}

/* take(handle, waits): returns the lines that have arrived, as one string, or
 * null if the server has ended and there are none. */
static napi_value
addon_take(napi_env env, napi_callback_info info)
{
    napi_value argv[2], text = NULL;
    struct addon_server *s = addon_of(env, info, 2, argv);
    bool waits = false;

    if (!s)
        return addon_throw(env, "not a server");
    (void)napi_get_value_bool(env, argv[1], &waits);
    if (waits)
        addon_wait(s);
    pthread_mutex_lock(&s->lock);
    if (s->lines.error)
        (void)addon_throw(env, "no memory for an answer of the server");
    else if (!s->lines.len && s->has_ended)
        (void)napi_get_null(env, &text);
    else
        (void)napi_create_string_utf8(env, s->lines.p ? s->lines.p : "",
                                      s->lines.len, &text);
    bool has_more = s->lines.len && s->has_ended; /* namely the end */
    s->lines.len = 0;
    s->has_lines = s->has_ended;
    s->is_woken = false;
    if (has_more)
        addon_wake(s);
    pthread_mutex_unlock(&s->lock);
    return text;
}

/* use(handle, isUsed): does the server keep the program alive? */
static napi_value
addon_use(napi_env env, napi_callback_info info)
{
    napi_value argv[2];
    struct addon_server *s = addon_of(env, info, 2, argv);
    bool is_used = false;

    if (!s)
        return addon_throw(env, "not a server");
    (void)napi_get_value_bool(env, argv[1], &is_used);
    if (is_used != s->is_used && is_used)
        (void)napi_ref_threadsafe_function(env, s->wake);
    else if (is_used != s->is_used)
        (void)napi_unref_threadsafe_function(env, s->wake);
    s->is_used = is_used;
    return NULL;
}

/* close(handle): ends the input. The server ends soon after it; what is left of
 * it is freed at the end of the environment. */
static napi_value
addon_close(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    struct addon_server *s = addon_of(env, info, 1, argv);

    if (!s)
        return addon_throw(env, "not a server");
    addon_close_input(s);
    return NULL;
}

/* Frees a server that has ended, before the environment does. */
static napi_value
addon_release(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    struct addon_server *s = addon_of(env, info, 1, argv);

    if (!s || !s->has_ended)
        return addon_throw(env, "the server has not ended");
    (void)napi_remove_env_cleanup_hook(env, addon_finish, s);
    addon_finish(s);
    return NULL;
}

/* Node calls this name when it loads the addon. */
NAPI_MODULE_EXPORT napi_value napi_register_module_v1(napi_env env,
                                                      napi_value exports);
napi_value
napi_register_module_v1(napi_env env, napi_value exports)
{
    static const struct {
        const char *name;
        napi_callback call;
    } functions[] = {{"open", addon_open},   {"send", addon_send},
                     {"take", addon_take},   {"use", addon_use},
                     {"close", addon_close}, {"release", addon_release}};

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        napi_value f = NULL;
        (void)napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH,
                                   functions[i].call, NULL, &f);
        (void)napi_set_named_property(env, exports, functions[i].name, f);
    }
    return exports;
}
