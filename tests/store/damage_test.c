/* Damage in the files of a store that was killed: all that was acknowledged is
 * there, or the loss is reported; and each session is as it was at one time. */
#include "../unit/test.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SESSIONS = 6, STATES = 80, FRAME = 24 + 4096 };

/* What each session was, commit by commit. */
struct history {
    struct model_session states[STATES];
    unsigned n;
};

/* A store, and its files as a kill would leave them. */
struct killed {
    struct world w;
    struct history of[SESSIONS];
    uint32_t random;
    char db[64], log[64], old_log[64], ledger[64];
    size_t log_used;
};

struct reports {
    char text[8192];
    int n;
};

/* --- files */

static char *
slurp(const char *path, size_t *ret_len)
{
    struct stat st;
    int hfd = open(path, O_RDONLY | O_CLOEXEC);

    CHECK(hfd >= 0 && !fstat(hfd, &st));
    char *p = malloc((size_t)st.st_size + 1);
    CHECK(p && read(hfd, p, (size_t)st.st_size) == st.st_size);
    close(hfd);
    *ret_len = (size_t)st.st_size;
    return p;
}

static void
spill(const char *path, const char *p, size_t len)
{
    int hfd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(hfd >= 0 && write(hfd, p, len) == (ssize_t)len);
    close(hfd);
}

static void
copy_file(const char *from, const char *to)
{
    size_t len;
    char *p = slurp(from, &len);

    spill(to, p, len);
    free(p);
}

static void
flip(const char *path, uint64_t bit)
{
    uint8_t byte = 0;
    int hfd = open(path, O_RDWR | O_CLOEXEC);

    CHECK(pread(hfd, &byte, 1, (off_t)(bit / 8)) == 1);
    byte ^= (uint8_t)(1U << bit % 8);
    CHECK(pwrite(hfd, &byte, 1, (off_t)(bit / 8)) == 1);
    close(hfd);
}

/* --- a store that was killed */

static void
commit_one(struct killed *k, unsigned i, bool is_durable)
{
    struct history *h = &k->of[i];
    struct model_session *m = &h->states[h->n];
    struct buf b;

    *m = h->states[h->n - 1];
    buf_init(&b, SIZE_MAX / 4);
    for (unsigned n = 1 + next_random(&k->random) % 6; n; n--) {
        unsigned key = next_random(&k->random) % MODEL_KEYS;
        m->value[key] = 1 + next_random(&k->random) % 5000;
        model_add(&b, key, m->value[key]);
    }
    CHECK_EQ(store_begin(k->w.s, is_durable), 0);
    CHECK_EQ(commit_frames(k->w.s, m->id, &b), 0);
    CHECK_EQ(store_end(k->w.s), 0);
    h->n++;
    buf_fini(&b);
}

static void
create(struct killed *k, unsigned i)
{
    struct model_session *m = &k->of[i].states[0];

    (void)snprintf(m->id, sizeof m->id, "s%u", i);
    k->of[i].n = 1;
    CHECK_EQ(store_session_create(k->w.s,
                                  &(struct store_session){.id = m->id,
                                                          .label = m->id,
                                                          .state = "active"}),
             0);
}

static void
save_files(struct killed *k)
{
    char path[96];

    (void)snprintf(path, sizeof path, "%s/store.db", k->w.dir);
    copy_file(path, k->db);
    (void)snprintf(path, sizeof path, "%s/store.db-wal", k->w.dir);
    copy_file(path, k->log);
    (void)snprintf(path, sizeof path, "%s/store.db-ledger", k->w.dir);
    copy_file(path, k->ledger);
}

/* Where the frames of the log end: they have the salts of its header. */
static size_t
used_bytes(const char *log)
{
    size_t len, at = 32;
    char *p = slurp(log, &len);

    while (at + FRAME <= len && !memcmp(p + at + 8, p + 16, 8))
        at += FRAME;
    free(p);
    return at;
}

/* Some sessions in the database, all of them and more commits in the log. */
static void
kill_store(struct killed *k, uint32_t seed)
{
    memset(k, 0, sizeof *k);
    k->random = seed;
    /* in memory: there are many stores to open, and no power to lose */
    k->w = (struct world){.dir = "/dev/shm/wasmsand-store-XXXXXX",
                          .options = {.log_pages = 120}};
    if (!mkdtemp(k->w.dir))
        world_init(&k->w, &k->w.options);
    else
        world_reopen(&k->w);
    (void)snprintf(k->db, sizeof k->db, "%s.db", k->w.dir);
    (void)snprintf(k->log, sizeof k->log, "%s.log", k->w.dir);
    (void)snprintf(k->old_log, sizeof k->old_log, "%s.old", k->w.dir);
    (void)snprintf(k->ledger, sizeof k->ledger, "%s.ledger", k->w.dir);
    for (unsigned i = 0; i < SESSIONS - 1; i++)
        create(k, i);
    for (int i = 0; i < 60; i++)
        commit_one(k, next_random(&k->random) % (SESSIONS - 1), true);
    save_files(k);
    copy_file(k->log, k->old_log);
    CHECK_EQ(store_checkpoint(k->w.s), 0);
    create(k, SESSIONS - 1);
    for (int i = 0; i < 40; i++)
        commit_one(k, next_random(&k->random) % SESSIONS, i < 35);
    save_files(k);
    k->log_used = used_bytes(k->log);
    CHECK(k->log_used > 60 * FRAME);
    store_free(STEAL(k->w.s));
}

static void
revive_fini(struct killed *k)
{
    (void)unlink(k->db);
    (void)unlink(k->log);
    (void)unlink(k->old_log);
    (void)unlink(k->ledger);
    world_fini(&k->w);
}

/* The files as they were at the kill, for damage. */
static void
restore_files(struct killed *k, char db[96], char log[96])
{
    char ledger[96];

    (void)snprintf(db, 96, "%s/store.db", k->w.dir);
    (void)snprintf(log, 96, "%s/store.db-wal", k->w.dir);
    (void)snprintf(ledger, 96, "%s/store.db-ledger", k->w.dir);
    copy_file(k->db, db);
    copy_file(k->log, log);
    copy_file(k->ledger, ledger);
}

/* --- what is there */

static void
note(void *arg, const struct store_finding *f)
{
    struct reports *r = arg;
    size_t len = strlen(r->text);

    r->n++;
    (void)snprintf(r->text + len, sizeof r->text - len, "%s|%s\n", f->session,
                   f->what);
}

static bool
is_reported(const struct reports *r, const char *id)
{
    char start[24];

    (void)snprintf(start, sizeof start, "%s|", id);
    return strstr(r->text, start);
}

static int
check_label(void *arg, const struct store_session *row)
{
    (void)arg;
    return strcmp(row->label, row->id) != 0 || row->has_ended;
}

/* 1: as it was when it was killed; 0: as it was before, or not there, and that
 * is reported. */
static int
check_session(struct killed *k, const struct reports *r, unsigned i)
{
    const struct history *h = &k->of[i];
    const char *id = h->states[0].id;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    int error = read_frames(k->w.s, id, 1 << 20, &b);
    buf_fini(&b);
    bool is_row = store_session_get(k->w.s, id, check_label, NULL) == 0;
    if (error == 0 && is_row && model_is(k->w.s, &h->states[h->n - 1]))
        return 1;
    /* what cannot be read is reported to whoever resumes it */
    bool is_known = is_reported(r, id) || error == -EBADMSG;
    if (!is_known)
        printf("  %s: %d, %s\n", id, error, r->text);
    CHECK(is_known);
    bool is_whole = error != 0;
    for (unsigned n = 0; n < h->n && !is_whole; n++)
        is_whole = model_is(k->w.s, &h->states[n]);
    CHECK(is_whole);
    return 0;
}

struct outcome {
    int refused; /* the store could not be opened */
    int whole, lost;
};

/* Opens the damaged store, and checks all sessions. */
static void
check_store(struct killed *k, struct outcome *o, struct reports *r)
{
    char why[STORE_WHY_BYTES] = "";
    int lost = 0;

    memset(r, 0, sizeof *r);
    if (store_open(k->w.dir, &k->w.options, why, &k->w.s)) {
        o->refused++;
        CHECK(*why);
        return;
    }
    CHECK_EQ(store_damage(k->w.s, false, note, r), r->n);
    for (unsigned i = 0; i < SESSIONS; i++)
        lost += !check_session(k, r, i);
    o->whole += !lost;
    o->lost += lost;
    store_free(STEAL(k->w.s));
}

TEST(a_kill_is_no_damage)
{
    struct killed k;
    struct outcome o = {0};
    struct reports r;
    char db[96], log[96];

    kill_store(&k, 1);
    restore_files(&k, db, log);
    check_store(&k, &o, &r);
    CHECK_EQ(o.whole, 1);
    CHECK_EQ(r.n, 0);
    revive_fini(&k);
}

TEST(a_bit_that_flips_in_the_log_is_reported_and_costs_little)
{
    struct killed k;
    struct outcome o = {0};
    struct reports r;
    char db[96], log[96];
    int reported = 0;

    kill_store(&k, 2);
    for (int i = 0; i < 100; i++) {
        restore_files(&k, db, log);
        flip(log, next_random(&k.random) % (k.log_used * 8));
        check_store(&k, &o, &r);
        reported += r.n > 0;
    }
    printf("  of 100 damaged logs, %d cost nothing; %d of %d sessions went "
           "back\n",
           o.whole, o.lost, 100 * SESSIONS);
    CHECK_EQ(reported, 100);
    CHECK_EQ(o.refused, 0);
    /* most pages are written again, and sessions have most of theirs alone */
    CHECK(o.whole > 30);
    CHECK(o.lost < 200);
    revive_fini(&k);
}

TEST(a_bit_that_flips_in_the_database_is_reported)
{
    struct killed k;
    struct outcome o = {0};
    struct reports r;
    char db[96], log[96];
    size_t len;

    kill_store(&k, 3);
    free(slurp(k.db, &len));
    for (int i = 0; i < 100; i++) {
        restore_files(&k, db, log);
        flip(db, next_random(&k.random) % (len * 8));
        check_store(&k, &o, &r);
    }
    CHECK(o.whole > 20);
    revive_fini(&k);
}

/* A log that is not there, or not as long as it was, or another one. */
TEST(a_log_that_is_not_what_it_was_is_reported)
{
    struct killed k;
    struct reports r;
    char db[96], log[96], noise[FRAME];

    kill_store(&k, 4);
    for (int i = 0; i < 24; i++) {
        struct outcome o = {0};
        restore_files(&k, db, log);
        if (i == 0)
            CHECK_EQ(unlink(log), 0);
        else if (i == 1)
            copy_file(k.old_log, log);
        else if (i == 2)
            spill(log, memset(noise, 0x5a, sizeof noise), sizeof noise);
        else if (i == 3)
            spill(log, "", 0);
        else
            CHECK_EQ(truncate(log, next_random(&k.random) %
                                       (off_t)(k.log_used - FRAME)),
                     0);
        check_store(&k, &o, &r);
        CHECK_EQ(o.refused, 0);
        CHECK(o.lost > 0 && r.n > o.lost);
        if (i < 4) /* what the log had is gone; all else is there */
            CHECK(
                strstr(r.text, "s5|the log was damaged: the session is lost"));
    }
    revive_fini(&k);
}

/* What is reported once is not reported again. */
TEST(after_damage_a_store_goes_on)
{
    struct killed k;
    struct outcome o = {0};
    struct reports r;
    char db[96], log[96];

    kill_store(&k, 5);
    restore_files(&k, db, log);
    flip(log, (32 + 20 * FRAME + 2000) * 8);
    check_store(&k, &o, &r);
    CHECK(strstr(r.text, "|the log does not have all"));
    world_reopen(&k.w);
    CHECK_EQ(store_damage(k.w.s, true, note, &r), r.n / 2);
    CHECK_EQ(store_damage(k.w.s, true, note, &r), 0);
    for (unsigned i = 0; i < SESSIONS; i++) {
        struct buf b;
        buf_init(&b, SIZE_MAX / 4);
        add_file(&b, 1, "new", 900, i, 4000);
        CHECK_EQ(commit_frames(k.w.s, k.of[i].states[0].id, &b), 0);
        buf_fini(&b);
    }
    world_reopen(&k.w);
    CHECK_EQ(store_damage(k.w.s, true, note, &r), 0);
    CHECK_EQ(store_fsck(k.w.s, false, note, &r), 0);
    revive_fini(&k);
}

TEST(an_orderly_end_leaves_all_in_the_database)
{
    struct world w;
    struct buf b;
    char path[96];

    world_init(&w, NULL);
    buf_init(&b, SIZE_MAX / 4);
    CHECK_EQ(new_session(w.s, "a"), 0);
    add_file(&b, 1, "file", 2, 1, 4096);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    store_free(STEAL(w.s));
    (void)snprintf(path, sizeof path, "%s/store.db-wal", w.dir);
    CHECK_EQ(unlink(path), 0);
    world_reopen(&w);
    CHECK_EQ(count_records(w.s, "a"), 3);
    CHECK_EQ(store_fsck(w.s, false, NULL, NULL), 0);
    buf_fini(&b);
    world_fini(&w);
}
