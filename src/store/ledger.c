/* The file of the ledger: entries of a fixed size, the head first. Entries of
 * another generation than the head's, and those with a wrong checksum, do not
 * count.
 *
 * A ledger that has grown long is rewritten as a new generation. The entries of
 * all sessions are written from the start of the file, and then the new head
 * makes them valid. A crash in between leaves the old head, for which the
 * overwritten entries are invalid. The ledger then claims less, which is always
 * safe. */
#include "base/vec.h"
#include "store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One entry on the disk: 96 bytes in the byte order of the host. A checksum
 * makes torn and foreign entries recognisable. */
struct ledger_entry {
    uint64_t sum; /* of all that follows */
    uint32_t generation, log;
    uint64_t number; /* of the last commit; in the head: the database's mark */
    uint64_t boot;   /* 0: it is durable; in the head: the log's salts */
    char id[64];
};

enum { SOME = 32, DB_HEAD_BYTES = 100, RENEW_ENTRIES = 4096 };
static const char head_id[64] = "wasmsand ledger 1";

static uint64_t
ledger_sum_of(const struct ledger_entry *e)
{
    return store_mix(1, &e->generation, sizeof *e - sizeof e->sum);
}

/* --- reading */

/* Identifies the current boot of the host. Without /proc, all boots count as
 * one, and claims of commits without a sync may survive a power loss wrongly;
 * the store then reports them as lost. */
static uint64_t
ledger_boot_id(void)
{
    char text[40] = "";
    int hfd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    if (hfd >= 0) {
        (void)!read(hfd, text, sizeof text - 1);
        (void)close(hfd);
    }
    return store_mix(1, text, sizeof text);
}

/* Identifies the database file by its header, which only a checkpoint changes.
 * A file that was replaced by a copy has another mark. */
static uint64_t
ledger_database_mark(struct store *s)
{
    uint8_t head[DB_HEAD_BYTES] = {0};
    sqlite3_file *f = NULL;

    if (!sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &f) &&
        f && f->pMethods)
        (void)f->pMethods->xRead(f, head, sizeof head, 0);
    return store_mix(2, head, sizeof head);
}

/* Returns whether the entry counts. An entry of a commit without a sync counts
 * only during the boot in which it was written. */
static bool
ledger_is_claim(const struct ledger *l, const struct ledger_entry *e)
{
    return e->sum == ledger_sum_of(e) && e->generation == l->generation &&
           (!e->boot || e->boot == l->boot);
}

static int
ledger_add_old(struct ledger *l, const struct ledger_entry *e)
{
    if (!VEC_ROOM(l->old, l->n_old))
        return -ENOMEM;
    struct claim *c = &l->old[l->n_old++];
    memcpy(c->id, e->id, sizeof c->id);
    c->commits = e->number;
    c->is_met = false;
    return 0;
}

static int
ledger_compare_claims(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    int r = memcmp(x->id, y->id, sizeof x->id);

    return r ? r : (x->commits > y->commits) - (x->commits < y->commits);
}

/* Keeps one claim for each session. Numbers only grow within a generation, so
 * the largest number is the claim. */
static void
ledger_sort_old(struct ledger *l)
{
    size_t n = 0;

    if (l->n_old)
        qsort(l->old, l->n_old, sizeof *l->old, ledger_compare_claims);
    for (size_t i = 0; i < l->n_old; i++) {
        if (i + 1 < l->n_old &&
            !memcmp(l->old[i].id, l->old[i + 1].id, sizeof l->old[i].id))
            continue;
        l->old[n++] = l->old[i];
    }
    l->n_old = n;
}

/* Reads all entries, also those behind an invalid one: the file is not synced,
 * so a power loss may lose any sector of it. */
static int
ledger_read_entries(struct ledger *l, int64_t size)
{
    struct ledger_entry some[SOME];

    for (int64_t at = sizeof *some; at < size; at += (int64_t)sizeof some) {
        int64_t left = size - at;
        size_t n = left < (int64_t)sizeof some ? (size_t)left : sizeof some;
        if (l->file->pMethods->xRead(l->file, some, (int)n, at))
            return -EIO;
        for (size_t i = 0; i < n / sizeof *some; i++)
            if (ledger_is_claim(l, &some[i]) && ledger_add_old(l, &some[i]))
                return -ENOMEM;
    }
    ledger_sort_old(l);
    return 0;
}

/* A ledger without a valid head, or of another database, claims nothing: a
 * store without evidence is accepted as it is. */
static int
ledger_read_all(struct store *s)
{
    struct ledger *l = &s->ledger;
    struct ledger_entry head = {0};
    sqlite3_int64 size = 0;

    if (l->file->pMethods->xFileSize(l->file, &size))
        return store_fail(s, -EIO, "the store's ledger cannot be read");
    if (size < (sqlite3_int64)sizeof head)
        return 0;
    if (l->file->pMethods->xRead(l->file, &head, sizeof head, 0))
        return store_fail(s, -EIO, "the store's ledger cannot be read");
    if (head.sum != ledger_sum_of(&head) ||
        memcmp(head.id, head_id, sizeof head_id) != 0)
        return 0;
    l->generation = head.generation;
    if (head.number != ledger_database_mark(s))
        return 0;
    l->log = (enum ledger_log)head.log;
    l->salts = head.boot;
    int r = ledger_read_entries(l, size);
    return r < 0 ? store_fail(s, r, "the store's ledger cannot be read") : 0;
}

/* The file is opened through SQLite's own layer for files, so that the
 * simulated disk of the tests contains it, too. */
int
ledger_open(struct store *s, const char *dir)
{
    enum { FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE };
    struct ledger *l = &s->ledger;
    sqlite3_vfs *vfs = sqlite3_vfs_find(s->options.vfs);
    sqlite3_file *f = vfs ? calloc(1, (size_t)vfs->szOsFile) : NULL;

    if (!f)
        return store_fail(s, -ENOMEM, "no memory");
    (void)snprintf(s->ledger_path, sizeof s->ledger_path, "%s/store.db-ledger",
                   dir);
    l->boot = s->options.boot ? s->options.boot : ledger_boot_id();
    int code = vfs->xOpen(vfs, s->ledger_path, f,
                          FLAGS | SQLITE_OPEN_MAIN_JOURNAL, NULL);
    if (code) {
        free(f);
        return store_fail(s, -EIO, "%s cannot be opened", s->ledger_path);
    }
    l->file = f;
    return ledger_read_all(s);
}

void
ledger_close(struct store *s)
{
    struct ledger *l = &s->ledger;

    if (l->file)
        (void)l->file->pMethods->xClose(l->file);
    free(l->file);
    free(l->old);
    free(l->claims);
    *l = (struct ledger){0};
}

bool
ledger_knows_log(const struct store *s, uint64_t salts)
{
    const struct ledger *l = &s->ledger;

    return l->log == LEDGER_LOG_ANY ||
           (l->log == LEDGER_LOG_SALTS && l->salts == salts);
}

/* --- writing */

static int
ledger_write_at(struct ledger *l, const struct ledger_entry *e, size_t n,
                int64_t at)
{
    return l->file->pMethods->xWrite(l->file, e, (int)(n * sizeof *e), at)
               ? -EIO
               : 0;
}

static void
ledger_fill(const struct ledger *l, struct ledger_entry *e,
            const struct claim *c, uint64_t boot)
{
    *e = (struct ledger_entry){
        .generation = l->generation, .number = c->commits, .boot = boot};
    memcpy(e->id, c->id, sizeof e->id);
    e->sum = ledger_sum_of(e);
}

/* Appends entries. `boot` is 0 for commits that are durable. */
static int
ledger_write_claims(struct ledger *l, const struct claim *c, size_t n,
                    uint64_t boot)
{
    struct ledger_entry some[SOME];
    int r = 0;

    while (n && r == 0) {
        size_t k = n < SOME ? n : SOME;
        for (size_t i = 0; i < k; i++)
            ledger_fill(l, &some[i], &c[i], boot);
        r = ledger_write_at(l, some, k, l->end);
        if (r == 0)
            l->end += (int64_t)(k * sizeof *some);
        c += k;
        n -= k;
    }
    return r;
}

static int
ledger_write_head(struct store *s)
{
    struct ledger *l = &s->ledger;
    struct ledger_entry e = {.generation = l->generation,
                             .log = l->log,
                             .number = ledger_database_mark(s),
                             .boot = l->salts};

    memcpy(e.id, head_id, sizeof e.id);
    e.sum = ledger_sum_of(&e);
    return ledger_write_at(l, &e, 1, 0);
}

/* --- claims */

int
ledger_claim(struct store *s, const char *id, uint64_t commits)
{
    struct ledger *l = &s->ledger;

    if (!VEC_ROOM(l->claims, l->n))
        return store_fail(s, -ENOMEM, "no memory");
    struct claim *c = &l->claims[l->n++];
    *c = (struct claim){.commits = commits};
    memcpy(c->id, id, strnlen(id, sizeof c->id));
    return 0;
}

/* Operations may nest, each as a savepoint. A failed one takes back the claims
 * that were made since its begin, like SQLite does with its writes. */
void
ledger_begin(struct store *s)
{
    struct ledger *l = &s->ledger;

    l->at[l->depth++ % (sizeof l->at / sizeof *l->at)] = l->n;
}

void
ledger_end(struct store *s, bool has_failed)
{
    struct ledger *l = &s->ledger;
    size_t at = l->at[--l->depth % (sizeof l->at / sizeof *l->at)];

    if (has_failed && l->n > at)
        l->n = at;
}

void
ledger_undo(struct store *s)
{
    s->ledger.n = s->ledger.n_written;
}

/* Records the identity of a log that has begun again. Its salts are known from
 * its first commit on. */
static void
ledger_note_log(struct store *s)
{
    struct ledger *l = &s->ledger;
    uint64_t salts;

    if (l->log == LEDGER_LOG_SALTS || log_salts(s, &salts) <= 0)
        return;
    l->log = LEDGER_LOG_SALTS;
    l->salts = salts;
    (void)ledger_write_head(s);
}

/* Without a sync, only the claims of this transaction are written, with the
 * boot id. After a sync, all claims since the last one are written again as
 * durable. */
void
ledger_settle(struct store *s, bool is_synced)
{
    struct ledger *l = &s->ledger;
    size_t from = is_synced ? 0 : l->n_written;

    if (!l->file || from == l->n)
        return;
    if (is_synced)
        ledger_note_log(s);
    (void)ledger_write_claims(l, l->claims + from, l->n - from,
                              is_synced ? 0 : l->boot);
    if (is_synced)
        l->n = 0;
    l->n_written = l->n;
}

/* --- a new generation */

static int
ledger_claim_all(struct store *s)
{
    SQL *st = sql_start(s, SQL_session_all, "");
    int r;

    while ((r = sql_step(s, st)) > 0) {
        r = ledger_claim(s, sql_text(st, 0),
                         (uint64_t)sqlite3_column_int64(st, 1));
        if (r < 0)
            return r;
    }
    return r;
}

/* The entries of the old generation become invalid with the new number in the
 * head. One entry for each session replaces them, at the beginning of the
 * file. */
static int
ledger_begin_generation(struct store *s)
{
    struct ledger *l = &s->ledger;

    l->generation++;
    l->end = sizeof(struct ledger_entry);
    l->n = l->n_written = 0;
    int r = ledger_claim_all(s);
    if (r == 0)
        r = ledger_write_claims(l, l->claims, l->n, 0);
    l->n_live = l->n;
    l->n = 0;
    return r;
}

static int
ledger_sync_head(struct store *s)
{
    sqlite3_file *f = s->ledger.file;

    if (ledger_write_head(s) || f->pMethods->xSync(f, SQLITE_SYNC_NORMAL))
        return store_fail(s, -EIO, "the store's ledger cannot be written: %s",
                          strerror(errno));
    return 0;
}

/* The head is synced because it must be on the disk before the log changes: a
 * head that still names the old log would declare the new one foreign. */
int
ledger_set_log(struct store *s, enum ledger_log log)
{
    if (!s->ledger.file || s->ledger.log == log)
        return 0;
    struct ledger *l = &s->ledger;
    const struct ledger was = *l;
    l->log = log;
    l->salts = 0;
    int r = ledger_sync_head(s);
    if (r < 0) {
        l->log = was.log;
        l->salts = was.salts;
    }
    return r;
}

/* The limit grows with the number of sessions, so the cost of rewriting stays
 * constant for each commit. */
int
ledger_renew(struct store *s)
{
    struct ledger *l = &s->ledger;
    int64_t n = l->end / (int64_t)sizeof(struct ledger_entry);

    if (!l->file)
        return 0;
    int r = !n || n > RENEW_ENTRIES + 2 * (int64_t)l->n_live
                ? ledger_begin_generation(s)
                : 0;
    return r < 0 ? r : ledger_write_head(s);
}

int
ledger_give_up(struct store *s)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(s->options.vfs);

    ledger_close(s);
    int code = vfs ? vfs->xDelete(vfs, s->ledger_path, 1) : SQLITE_NOMEM;
    return code && code != SQLITE_IOERR_DELETE_NOENT
               ? store_fail(s, -EIO, "%s cannot be written, nor removed",
                            s->ledger_path)
               : 0;
}
