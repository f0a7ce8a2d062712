/* The table of sessions that have not ended, and their representation in the
 * store and in JSON. */
#include "supervisor/session/forward.h"
#include "supervisor/session/session.h"

#include "record/record.h"
#include "supervisor/config/config.h"
#include "supervisor/session/life.h"
#include "supervisor/session/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { BUCKETS = 4096 };

const char *const session_state_names[N_SESSION_STATES] = {
#define STATE(name) #name,
#include "supervisor/session/states.def"
#undef STATE
};

const char *const cause_names[N_CAUSES] = {
#define CAUSE(name, text, what) text,
#include "supervisor/session/causes.def"
#undef CAUSE
};

/* --- the table */

int
sessions_init(struct sessions *t)
{
    *t = (struct sessions){.buckets = calloc(BUCKETS, sizeof *t->buckets),
                           .n_buckets = BUCKETS};
    if (!t->buckets)
        return -ENOMEM;
    for (size_t i = 0; i < BUCKETS; i++)
        list_init(&t->buckets[i]);
    return 0;
}

/* The current session may be removed; others must not be. */
void
sessions_each(struct sessions *t, void (*fn)(struct session *s, void *arg),
              void *arg)
{
    for (size_t i = 0; t->buckets && i < t->n_buckets; i++) {
        LIST_FOR_EACH_SAFE(it, &t->buckets[i]) {
            fn(CONTAINER_OF(it, struct session, link), arg);
        }
    }
}

static void
sessions_forget(struct session *s, void *arg)
{
    (void)arg;
    session_forget(s);
}

void
sessions_fini(struct sessions *t)
{
    sessions_each(t, sessions_forget, NULL);
    free(t->buckets);
}

/* The ids are random, so some of their digits are a hash. */
static struct list *
sessions_bucket(struct supervisor *sv, const char *id)
{
    size_t h = 0;

    for (int i = 0; i < 6; i++)
        h = h * 31 + (unsigned char)id[i];
    return &sv->sessions.buckets[h % sv->sessions.n_buckets];
}

/* Ids have a fixed length, so anything else is not an id. */
struct session *
sessions_find(struct supervisor *sv, struct text id)
{
    if (id.len != SESSION_ID_BYTES - 1)
        return NULL;
    LIST_FOR_EACH(it, sessions_bucket(sv, id.p)) {
        struct session *s = CONTAINER_OF(it, struct session, link);
        if (!memcmp(s->id, id.p, id.len))
            return s;
    }
    return NULL;
}

/* 128 random bits: knowing an id is enough to use the session, so it must not
 * be guessable. */
static int
sessions_make_id(char ret[SESSION_ID_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[(SESSION_ID_BYTES - 1) / 2];

    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return -EIO;
    for (size_t i = 0; i < sizeof random; i++) {
        ret[2 * i] = digits[random[i] >> 4];
        ret[2 * i + 1] = digits[random[i] & 15];
    }
    ret[SESSION_ID_BYTES - 1] = 0;
    return 0;
}

/* The new session is in the table at once, so its id cannot be used a second
 * time. */
struct session *
session_new(struct supervisor *sv, const char *id)
{
    struct session *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct session){.sv = sv, .refs = 1, .state = SESSION_starting};
    list_init(&s->forwards);
    list_init(&s->waiting);
    if (id)
        memcpy(s->id, id, SESSION_ID_BYTES);
    else if (sessions_make_id(s->id) < 0) {
        free(s);
        return NULL;
    }
    s->created_ms = s->changed_ms = time_wall_ms();
    list_push_back(sessions_bucket(sv, s->id), &s->link);
    sv->sessions.n_in_state[s->state]++;
    return s;
}

void
session_set_image(struct session *s, struct session_image *i)
{
    s->image = i;
    if (i)
        i->n_sessions++;
    images_share_pool(s->sv);
}

struct session *
session_get(struct session *s)
{
    s->refs++;
    return s;
}

/* The session is not in the table any more when its last reference is
 * dropped. */
void
session_put(struct session *s)
{
    if (!s || --s->refs)
        return;
    free(s->agent);
    free(s->label);
    free(s->limits);
    free(s->options);
    free(s->command);
    free(s->output);
    free(s->not_copied);
    session_forward_free_all(s);
    session_network_free(s->network);
    free(s);
}

/* Removes the session from the table. The last session of an image removes that
 * image's file. */
void
session_forget(struct session *s)
{
    if (list_is_empty(&s->link))
        return;
    list_remove(&s->link);
    if (s->image)
        s->image->n_sessions--;
    if (s->state != SESSION_ended)
        s->sv->sessions.n_in_state[s->state]--;
    else if (s->image)
        image_drop(s->image);
    session_put(s);
}

/* --- rows */

/* Computes the quota of a session in the store from its limits.
 *
 * Each block of a file is a record of its own, and the worker counts only the
 * used bytes of the last block. Inodes and names have a margin, because a
 * commit may add before it removes. Each page of the shell is a record, too. */
static struct store_amounts
sessions_quota(const struct session *s)
{
    uint64_t memory = mb_bytes(s->limit[LIMIT_memory]);
    uint64_t disk = mb_bytes(s->limit[LIMIT_disk]);
    uint64_t files = limit_files(s->limit[LIMIT_disk]);

    return (struct store_amounts){.bytes = disk + files * RECORD_BLOCK_BYTES,
                                  .inodes = 2 * files,
                                  .names = 4 * files,
                                  .pages = memory / RECORD_PAGE_BYTES,
                                  .other = 64 << 20};
}

/* The texts stay valid as long as the session does not change. */
void
session_row(const struct session *s, struct store_session *ret)
{
    *ret = (struct store_session){.id = s->id,
                                  .agent = s->agent,
                                  .label = s->label,
                                  .state = session_state_names[s->state],
                                  .cause = cause_names[s->cause],
                                  .limits = s->limits,
                                  .options = s->options,
                                  .image = s->image ? s->image->hash : "",
                                  .created_ms = s->created_ms,
                                  .changed_ms = s->changed_ms,
                                  .is_interval = s->is_interval,
                                  .quota = sessions_quota(s)};
}

/* --- as JSON */

static void
sessions_put_optional(struct buf *b, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    put_name(b, name);
    put_text(b, text);
}

/* The cause in a row may be "cause: reason". */
static void
sessions_put_cause(struct buf *b, const char *cause)
{
    const char *colon = strstr(cause, ": ");

    put_name(b, "cause");
    put_string(b, cause, colon ? (size_t)(colon - cause) : strlen(cause));
    if (colon)
        sessions_put_optional(b, "reason", colon + 2);
}

static void
sessions_put_raw(struct buf *b, const char *name, const char *json)
{
    if (!json || !*json)
        return;
    put_name(b, name);
    buf_puts(b, json);
}

void
session_put_row_json(const struct store_session *row, struct buf *b)
{
    buf_puts(b, "{");
    put_name(b, "sessionId");
    put_text(b, row->id);
    put_name(b, "state");
    put_text(b, row->state);
    sessions_put_cause(b, row->cause);
    sessions_put_optional(b, "agent", row->agent);
    sessions_put_optional(b, "label", row->label);
    put_number(b, "createdAt", (uint64_t)row->created_ms);
    put_number(b, "changedAt", (uint64_t)row->changed_ms);
    sessions_put_raw(b, "limits", row->limits);
    put_name(b, "durability");
    put_text(b, row->is_interval ? "interval" : "full");
    sessions_put_optional(b, "image", row->image);
    if (*row->image) {
        put_name(b, "imageName");
        session_put_image_name(row->options, b);
    }
    sessions_put_raw(b, "options", row->options);
    buf_puts(b, "}");
}

/* Live figures exist only while there is a worker. */
static void
sessions_put_use(const struct session *s, struct buf *b)
{
    struct worker_use use = {0};

    if (!s->life || !s->life->worker)
        return;
    worker_use(s->life->worker, &use);
    put_name(b, "use");
    buf_puts(b, "{");
    put_number(b, "pid", (uint64_t)s->life->worker->pid);
    put_number(b, "memoryBytes", use.memory_bytes);
    put_number(b, "cpuMs", use.cpu_us / 1000);
    if (s->command)
        put_number(b, "diskBytes", use.disk_bytes);
    buf_puts(b, "}");
}

/* Live figures and the reason are appended to the row's object, whose closing
 * brace is removed for that. */
void
session_put_json(const struct session *s, struct buf *b)
{
    struct store_session row;

    session_row(s, &row);
    session_put_row_json(&row, b);
    if (b->error)
        return;
    b->len--; /* goes on */
    sessions_put_optional(b, "reason", s->reason);
    sessions_put_use(s, b);
    buf_puts(b, "}");
}

/* --- from the store */

/* An unknown state, of another version, becomes `error`. */
static enum session_state
sessions_state_of(const char *name)
{
    for (int i = 0; i < N_SESSION_STATES; i++)
        if (!strcmp(name, session_state_names[i]))
            return (enum session_state)i;
    return SESSION_error;
}

/* Splits "cause: reason", as session_state.c writes it. */
static void
sessions_cause_of(struct session *s, const char *text)
{
    size_t n = strcspn(text, ":");

    for (int i = 0; i < N_CAUSES; i++)
        if (strlen(cause_names[i]) == n && !memcmp(text, cause_names[i], n))
            s->cause = (enum cause)i;
    if (text[n])
        (void)snprintf(s->reason, sizeof s->reason, "%s", text + n + 2);
}

/* A row with an id of another length is not ours, and is skipped. */
static int
sessions_load_row(void *arg, const struct store_session *row)
{
    struct supervisor *sv = arg;

    if (strlen(row->id) != SESSION_ID_BYTES - 1)
        return 0;
    struct session *s = session_new(sv, row->id);
    if (!s)
        return -ENOMEM;
    s->agent = strdup(row->agent);
    s->label = strdup(row->label);
    s->limits = strdup(row->limits);
    s->options = strdup(row->options);
    if (!s->agent || !s->label || !s->limits || !s->options)
        return -ENOMEM;
    struct session_image *image =
        *row->image ? image_find(sv, row->image) : NULL;
    if (*row->image && !image)
        return -ENOMEM;
    session_set_image(s, image);
    sv->sessions.n_in_state[s->state]--;
    s->state = sessions_state_of(row->state);
    sv->sessions.n_in_state[s->state]++;
    sessions_cause_of(s, row->cause);
    s->created_ms = row->created_ms;
    s->changed_ms = row->changed_ms;
    s->is_interval = row->is_interval;
    s->has_state = row->used.inodes || row->used.pages || row->used.other;
    if (image)
        image->is_disk |= session_has_disk(s);
    return session_read_options(s);
}

/* Ended sessions stay in the store. */
int
sessions_load(struct supervisor *sv, struct store *store)
{
    struct store_filter all = {0};

    return store_session_list(store, &all, sessions_load_row, sv);
}

/* Workers die with their supervisor. A session that was active has lost only
 * the work since its last answer. */
static void
sessions_pause_orphan(struct session *s, void *arg)
{
    (void)arg;
    if (s->state == SESSION_active || s->state == SESSION_starting)
        session_enter(s, &(struct session_change){.to = SESSION_paused,
                                                  .cause = CAUSE_host_restart});
}

void
sessions_pause_orphans(struct supervisor *sv)
{
    sessions_each(&sv->sessions, sessions_pause_orphan, NULL);
}
