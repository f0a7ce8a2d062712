/* Fuzzes the supervisor from both sides: lines of clients, and lines and
 * records of workers, over the real sessions and a real store. Workers are
 * socket pairs, and the store thread works when it is posted to.
 *
 * The input is a list of steps: a byte for what happens, two for a length, then
 * so many bytes. In the line of a client `$` stands for the newest session. At
 * the end everything is ended, and nothing may be left. */
#include "supervisor/config/config.h"
#include "supervisor/session/client.h"
#include "supervisor/session/events.h"
#include "supervisor/session/life.h"
#include "supervisor/session/session.h"
#include "supervisor/workers/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_CLIENTS = 2, STEPS_MAX = 64, LINE_BYTES = 65536, STORE_RUNS = 2000 };

static struct supervisor sv;
static struct config *config;
static struct store *store;
static char folder[] = "/dev/shm/session-fuzz-XXXXXX";
static char newest[SESSION_ID_BYTES];

static void
must(bool ok)
{
    if (!ok)
        abort();
}

/* --- the store thread */

struct store_thread {
    struct list done;
};
static struct store_thread store_thread;

void
store_thread_post(struct store_thread *k, struct store_job *j)
{
    list_push_back(&k->done, &j->link);
    if (j->kind == STORE_JOB_READ) {
        j->error = j->run(store, j);
        return;
    }
    must(store_begin(store, false) == 0);
    j->error = j->run(store, j);
    if (j->error)
        store_undo(store);
    else
        j->error = store_end(store);
}

bool
store_thread_is_full(const struct store_thread *k)
{
    (void)k;
    return false;
}

void
store_thread_drain(struct store_thread *k)
{
    while (!list_is_empty(&k->done)) {
        struct store_job *j =
            CONTAINER_OF(k->done.next, struct store_job, link);
        list_remove(&j->link);
        j->done(j, j->error);
    }
}

/* --- workers */

struct fake {
    struct worker worker;
    struct list link;
    int rpc_hfd, state_hfd; /* the worker's ends */
    uint64_t commits;
    bool is_dying;
};
static struct list fakes = {&fakes, &fakes};

static void
make_pair(int *ret_ours, int *ret_theirs)
{
    int hfds[2];

    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                    hfds) == 0);
    *ret_ours = hfds[0];
    *ret_theirs = hfds[1];
}

int
pool_take(struct pool *p, const uint32_t *limit, struct worker **ret)
{
    struct fake *f = calloc(1, sizeof *f);

    (void)p;
    (void)limit;
    f->worker.pid = 1;
    make_pair(&f->worker.rpc_hfd, &f->rpc_hfd);
    make_pair(&f->worker.state_hfd, &f->state_hfd);
    list_push_back(&fakes, &f->link);
    *ret = &f->worker;
    return 0;
}

struct session_image *
image_find(struct supervisor *of, const char *hash)
{
    (void)of;
    (void)hash;
    return NULL;
}

bool
images_choose(struct supervisor *of, struct call *q, struct session_image **ret)
{
    (void)of;
    (void)q;
    *ret = NULL;
    return true;
}

void
images_share_pool(struct supervisor *of)
{
    (void)of;
}

void
image_drop(struct session_image *i)
{
    (void)i;
}

int
image_take(struct session_image *i, const uint32_t *limit, struct worker **ret)
{
    (void)i;
    return pool_take(NULL, limit, ret);
}

int
pool_run(struct pool *p, const struct worker_command *c, struct worker **ret)
{
    (void)p;
    (void)c;
    (void)ret;
    return -EINVAL;
}

void
worker_kill(struct worker *w)
{
    CONTAINER_OF(w, struct fake, worker)->is_dying = true;
}

int
worker_signal(struct worker *w, int signal)
{
    (void)w;
    (void)signal;
    return -ESRCH;
}

void
worker_reap(struct worker *w, struct ending *ret)
{
    struct fake *f = CONTAINER_OF(w, struct fake, worker);

    *ret = (struct ending){.status = 9};
    list_remove(&f->link);
    close(w->rpc_hfd);
    close(w->state_hfd);
    close(f->rpc_hfd);
    close(f->state_hfd);
    free(f);
}

size_t
worker_output(const struct worker *w, uint64_t at, char *to, size_t size,
              uint64_t *ret_at)
{
    (void)w;
    (void)to;
    (void)size;
    *ret_at = at;
    return 0;
}

uint64_t
worker_output_end(const struct worker *w)
{
    (void)w;
    return 0;
}

void
worker_use(const struct worker *w, struct worker_use *ret)
{
    (void)w;
    *ret = (struct worker_use){0};
}

static void
bury(void)
{
    LIST_FOR_EACH_SAFE(it, &fakes) {
        struct fake *f = CONTAINER_OF(it, struct fake, link);
        if (f->is_dying && !f->worker.has_ended) {
            f->worker.has_ended = true;
            life_on_ended(f->worker.user);
        }
    }
}

/* The newest, or NULL. */
static struct fake *
last_fake(void)
{
    return list_is_empty(&fakes) ? NULL
                                 : CONTAINER_OF(fakes.prev, struct fake, link);
}

/* Answers the requests that a worker has, as it should. With `put`, each with a
 * commit of so many bytes under that key. */
static void
behave(struct fake *f, const uint8_t *put, size_t len)
{
    char text[LINE_BYTES], answer[256];
    uint8_t frame[16 + 1024] = {'P', 0};
    ssize_t n = read(f->rpc_hfd, text, sizeof text - 1);

    text[n > 0 ? n : 0] = 0;
    while (read(f->state_hfd, frame + 8, 1024) > 0)
        ;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *id = strstr(line, "\"id\":");
        if (!id)
            continue;
        int at = snprintf(answer, sizeof answer,
                          "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":{}",
                          atoll(id + 5));
        if (len > 10 && len < 1000) {
            f->commits++;
            frame[2] = 9; /* the key */
            frame[4] = (uint8_t)(len - 9);
            frame[5] = (uint8_t)((len - 9) >> 8);
            memcpy(frame + 8, put, len);
            (void)!write(f->state_hfd, frame, 8 + len);
            uint8_t end[16] = {'E', 0, 0, 0, 8};
            memcpy(end + 8, &f->commits, 8);
            (void)!write(f->state_hfd, end, sizeof end);
            at += snprintf(answer + at, sizeof answer - (size_t)at,
                           ",\"commit\":%llu", (unsigned long long)f->commits);
        }
        at += snprintf(answer + at, sizeof answer - (size_t)at, "}\n");
        (void)!write(f->rpc_hfd, answer, (size_t)at);
    }
}

/* --- clients */

struct probe {
    struct client client;
    bool is_behind;
};
static struct probe *probes[N_CLIENTS];

/* What is sent is a line of JSON. */
static void
on_send(struct client *c, const char *line, size_t len)
{
    static const char key[] = "\"sessionId\":\"";
    const char *at = memmem(line, len, key, sizeof key - 1);

    (void)c;
    must(len && !memchr(line, '\n', len));
    must(line[0] == '{' || line[0] == '[');
    if (at && (size_t)(line + len - at) > sizeof key + SESSION_ID_BYTES)
        memcpy(newest, at + sizeof key - 1, SESSION_ID_BYTES - 1);
}

static bool
on_is_behind(const struct client *c)
{
    return CONTAINER_OF(c, struct probe, client)->is_behind;
}

static void
on_free(struct client *c)
{
    free(CONTAINER_OF(c, struct probe, client));
}

static const struct client_ops ops = {
    .send = on_send, .is_behind = on_is_behind, .free = on_free};

static struct probe *
probe_at(size_t i)
{
    if (!probes[i]) {
        probes[i] = calloc(1, sizeof *probes[i]);
        client_init(&probes[i]->client, &sv, &ops);
    }
    return probes[i];
}

static void
say_line(size_t client, const uint8_t *data, size_t n)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    for (size_t i = 0; i < n; i++)
        if (data[i] == '$')
            buf_puts(&b, newest);
        else
            buf_add(&b, data + i, 1);
    client_line(&probe_at(client)->client, b.p ? b.p : "", b.len);
    buf_fini(&b);
}

/* --- steps */

static void
stop(struct reactor_timer *t)
{
    (void)t;
    reactor_stop(&sv.reactor);
}

/* All that is ready, and what follows from it. */
static void
run_loop(void)
{
    struct reactor_timer t = {.fire = stop};

    for (int i = 0; i < 3; i++) {
        store_thread_drain(&store_thread);
        bury();
        reactor_set_timer(&sv.reactor, &t, 1);
        sv.reactor.is_stopping = false;
        must(reactor_run(&sv.reactor) == 0);
    }
}

static void
step(unsigned what, const uint8_t *data, size_t n)
{
    struct fake *f = last_fake();

    switch (what % 8) {
    case 0:
    case 1:
        say_line(what % 2, data, n);
        break;
    case 2:
        if (f)
            (void)!write(f->rpc_hfd, data, n);
        break;
    case 3:
        if (f)
            (void)!write(f->state_hfd, data, n);
        break;
    case 4:
        if (f)
            behave(f, data, n);
        break;
    case 5:
        if (f)
            f->is_dying = true;
        break;
    case 6:
        probe_at(0)->is_behind = !probe_at(0)->is_behind;
        if (!probe_at(0)->is_behind)
            client_caught_up(&probe_at(0)->client);
        break;
    default:
        (void)probe_at(0);
        client_gone(&STEAL(probes[0])->client);
    }
    run_loop();
}

/* --- beginning and end */

void
supervisor_check_end(struct supervisor *s)
{
    (void)s;
}

static void
remove_folder(void)
{
    char command[96];

    store_free(STEAL(store));
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    must(system(command) == 0);
}

static void
open_store(void)
{
    char why[STORE_WHY_BYTES];

    if (store)
        remove_folder();
    must(store_open(folder, NULL, why, &store) == 0);
}

static void
prepare(void)
{
    char *const words[] = {"--log-level", "error",          "--max-active",
                           "4",           "--idle-pause-s", "0",
                           NULL};
    char *const env[] = {"WASMSAND_AUTO_RESUME=1", NULL};
    struct buf errors;

    buf_init(&errors, SIZE_MAX);
    must(config_read(words, env, &errors, &config) == 0);
    must(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
    (void)signal(SIGPIPE, SIG_IGN);
}

static void
begin(void)
{
    sv = (struct supervisor){.config = config, .store_thread = &store_thread};
    list_init(&store_thread.done);
    list_init(&sv.clients);
    list_init(&sv.lives);
    list_init(&sv.unsaved);
    list_init(&sv.event_waiters);
    must(reactor_init(&sv.reactor) == 0 && sessions_init(&sv.sessions) == 0);
    memset(newest, 0, sizeof newest);
}

static void
end(void)
{
    sv.is_ending = true;
    events_end_waits(&sv);
    for (int i = 0; i < 8 && !list_is_empty(&sv.lives); i++) {
        LIST_FOR_EACH_SAFE(it, &sv.lives)
            life_kill(CONTAINER_OF(it, struct life, all), SESSION_paused,
                      CAUSE_shutdown, "%s", "");
        run_loop();
    }
    must(list_is_empty(&sv.lives) && list_is_empty(&fakes) && !sv.n_workers);
    for (size_t i = 0; i < N_CLIENTS; i++)
        if (probes[i])
            client_gone(&STEAL(probes[i])->client);
    run_loop();
    must(list_is_empty(&sv.clients) && !sv.n_clients);
    session_forget_unsaved(&sv);
    sessions_fini(&sv.sessions);
    reactor_fini(&sv.reactor);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned runs;

    if (!config)
        prepare();
    if (runs++ % STORE_RUNS == 0)
        open_store();
    begin();
    for (int i = 0; i < STEPS_MAX && size >= 3; i++) {
        size_t n = data[1] | (size_t)data[2] << 8;
        n = n < size - 3 ? n : size - 3;
        step(data[0], data + 3, n);
        data += 3 + n;
        size -= 3 + n;
    }
    end();
    return 0;
}
