/* Stores, records and sessions for tests. */
#include "world.h"

#include "../unit/test.h"

#include <ftw.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
world_init(struct world *w, const struct store_options *o)
{
    *w = (struct world){.dir = "/tmp/wasmsand-store-XXXXXX"};
    if (o)
        w->options = *o;
    CHECK(mkdtemp(w->dir));
    world_reopen(w);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
    (void)st;
    (void)type;
    (void)f;
    return remove(path);
}

void
world_fini(struct world *w)
{
    store_free(w->s);
    (void)nftw(w->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void
world_reopen(struct world *w)
{
    char why[STORE_WHY_BYTES] = "";

    store_free(w->s);
    w->s = NULL;
    int r = store_open(w->dir, &w->options, why, &w->s);
    if (r < 0)
        printf("  store_open: %s\n", why);
    CHECK_EQ(r, 0);
}

int
world_tidy(struct world *w)
{
    int steps = 0, r;

    while ((r = store_tidy(w->s, 0)) > 0)
        steps++;
    CHECK_EQ(r, 0);
    return steps;
}

/* --- records */

static void
add_frame(struct buf *b, enum record_op op, const struct record_key *k,
          const void *value, size_t len)
{
    uint8_t head[RECORD_HEAD_BYTES], key[RECORD_KEY_MAX];
    size_t key_len = record_key_put(k, key);
    struct record_head h = {op, (uint16_t)key_len, (uint32_t)len};

    record_head_put(&h, head);
    buf_add(b, head, sizeof head);
    buf_add(b, key, key_len);
    buf_add(b, value, len);
}

void
add_put(struct buf *b, const struct record_key *k, const void *value,
        size_t len)
{
    add_frame(b, RECORD_PUT, k, value, len);
}

void
add_delete(struct buf *b, const struct record_key *k)
{
    add_frame(b, RECORD_DELETE, k, NULL, 0);
}

struct record_key
inode_key(uint64_t inode)
{
    return (struct record_key){.type = RECORD_INODE, .inode = inode};
}

struct record_key
name_key(uint64_t dir, const char *name)
{
    return (struct record_key){.type = RECORD_NAME,
                               .inode = dir,
                               .name = name,
                               .name_len = strlen(name)};
}

struct record_key
block_key(uint64_t inode, uint64_t block)
{
    return (struct record_key){
        .type = RECORD_BLOCK, .inode = inode, .index = block};
}

void
add_inode(struct buf *b, uint64_t inode, uint32_t mode, uint64_t size)
{
    struct record_inode r = {.mode = mode, .uid = 1000, .size = size};
    struct record_key k = inode_key(inode);
    uint8_t value[RECORD_FIXED_MAX];

    add_put(b, &k, value, record_inode_put(&r, value));
}

void
add_name(struct buf *b, uint64_t dir, const char *name, uint64_t inode)
{
    struct record_name r = {.inode = inode, .seq = inode};
    struct record_key k = name_key(dir, name);
    uint8_t value[RECORD_FIXED_MAX];

    add_put(b, &k, value, record_name_put(&r, value));
}

static void
fill(uint8_t *p, size_t len, uint32_t seed)
{
    uint32_t state = seed + 1;

    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)next_random(&state);
}

void
add_block(struct buf *b, uint64_t inode, uint64_t block, unsigned seed,
          size_t len)
{
    struct record_key k = block_key(inode, block);
    uint8_t value[RECORD_BLOCK_BYTES];

    fill(value, len, seed);
    add_put(b, &k, value, len);
}

void
add_file(struct buf *b, uint64_t dir, const char *name, uint64_t inode,
         unsigned seed, size_t len)
{
    add_inode(b, inode, S_IFREG | 0644, len);
    add_name(b, dir, name, inode);
    add_block(b, inode, 0, seed, len);
}

/* --- sessions */

int
new_session(struct store *s, const char *id)
{
    return store_session_create(
        s, &(struct store_session){.id = id, .state = "active"});
}

int
end_session(struct store *s, const char *id)
{
    return store_session_end(
        s, &(struct store_session){.id = id, .state = "ended"});
}

int
fork_session(struct store *s, const char *from, const char *to)
{
    return store_fork(s, from,
                      &(struct store_session){.id = to, .state = "paused"});
}

int
commit_frames(struct store *s, const char *id, struct buf *b)
{
    return commit_part(s, id, b, true, true);
}

int
commit_part(struct store *s, const char *id, struct buf *b, bool is_first,
            bool is_last)
{
    struct store_batch batch = {.session = id,
                                .frames = b->p,
                                .len = b->len,
                                .is_first = is_first,
                                .is_last = is_last};
    int r = store_commit(s, &batch);

    CHECK_EQ(b->error, 0);
    b->len = 0;
    return r;
}

int
read_frames(struct store *s, const char *id, size_t page, struct buf *ret)
{
    struct store_cursor cursor = {.len = 0};
    int r = 0;

    while (r == 0 && !cursor.is_done)
        r = store_read(s, id, page, &cursor, ret);
    return r;
}

long
count_records(struct store *s, const char *id)
{
    struct record_head h;
    struct buf b;
    long n = 0;

    buf_init(&b, SIZE_MAX / 4);
    if (read_frames(s, id, 1 << 20, &b))
        n = -1;
    for (size_t at = 0; n >= 0 && at < b.len; n++) {
        CHECK_EQ(record_head_get((uint8_t *)b.p + at, &h), 0);
        at += RECORD_HEAD_BYTES + h.key_len + h.value_len;
    }
    buf_fini(&b);
    return n < 0 ? n : n - 1;
}

static sqlite3 *
open_raw(const struct world *w)
{
    char path[128];
    sqlite3 *db;

    (void)snprintf(path, sizeof path, "%s/store.db", w->dir);
    CHECK_EQ(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, w->options.vfs),
             SQLITE_OK);
    return db;
}

void
sql_on(const struct world *w, const char *text)
{
    sqlite3 *db = open_raw(w);

    CHECK_EQ(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

long
sql_count(const struct world *w, const char *query)
{
    sqlite3 *db = open_raw(w);
    sqlite3_stmt *st = NULL;

    CHECK_EQ(sqlite3_prepare_v2(db, query, -1, &st, NULL), SQLITE_OK);
    CHECK_EQ(sqlite3_step(st), SQLITE_ROW);
    long n = (long)sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

/* --- the model */

static struct record_key
model_key(unsigned k, char name[16])
{
    static const enum record_type types[] = {
        RECORD_BLOCK, RECORD_INODE, RECORD_NAME, RECORD_PAGE, RECORD_COMMAND};
    struct record_key key = {
        .type = types[k % 5], .inode = 2 + k, .index = k, .name = name};

    key.name_len = (size_t)snprintf(name, 16, "name%u", k);
    return key;
}

/* A value that is well-formed; the same for few of them, so that sessions
 * share chunks. */
static size_t
model_value(enum record_type type, uint32_t v, uint8_t *ret)
{
    struct record_inode inode = {.mode = S_IFREG | 0644, .size = v};
    struct record_name name = {.inode = 1 + v % 1000, .seq = v % 1000};

    if (type == RECORD_INODE)
        return record_inode_put(&inode, ret);
    if (type == RECORD_NAME)
        return record_name_put(&name, ret);
    size_t max = type == RECORD_PAGE ? RECORD_PAGE_BYTES : RECORD_BLOCK_BYTES;
    size_t len = v % 4 ? v % 300 : max - v % 5;
    fill(ret, len, v % 50);
    for (size_t i = 0; type == RECORD_COMMAND && i < len; i++)
        ret[i] |= 1;
    return len;
}

void
model_add(struct buf *b, unsigned k, uint32_t value)
{
    uint8_t bytes[RECORD_BLOCK_BYTES];
    char name[16];
    struct record_key key = model_key(k, name);

    if (value)
        add_put(b, &key, bytes, model_value(key.type, value, bytes));
    else
        add_delete(b, &key);
}

static int
compare_frames(const void *a, const void *b)
{
    const uint8_t *x = *(const uint8_t *const *)a;
    const uint8_t *y = *(const uint8_t *const *)b;
    struct record_head hx, hy;

    CHECK_EQ(record_head_get(x, &hx), 0);
    CHECK_EQ(record_head_get(y, &hy), 0);
    size_t n = hx.key_len < hy.key_len ? hx.key_len : hy.key_len;
    int r = memcmp(x + RECORD_HEAD_BYTES, y + RECORD_HEAD_BYTES, n);
    return r ? r : hx.key_len - hy.key_len;
}

/* What a session should say: its records in the order of keys, and the end. */
static void
model_frames(const struct model_session *m, struct buf *ret)
{
    size_t at[MODEL_KEYS], n = 0;
    const uint8_t *frames[MODEL_KEYS];
    struct buf all;

    buf_init(&all, SIZE_MAX / 4);
    for (unsigned k = 0; k < MODEL_KEYS; k++) {
        at[n] = all.len;
        if (m->value[k])
            model_add(&all, k, m->value[k]);
        n += m->value[k] != 0;
    }
    for (size_t i = 0; i < n; i++)
        frames[i] = (uint8_t *)all.p + at[i];
    qsort(frames, n, sizeof *frames, compare_frames);
    for (size_t i = 0; i < n; i++) {
        struct record_head h;
        CHECK_EQ(record_head_get(frames[i], &h), 0);
        buf_add(ret, frames[i], RECORD_HEAD_BYTES + h.key_len + h.value_len);
    }
    buf_add(ret, "E\0\0\0\10\0\0\0\0\0\0\0\0\0\0", 16);
    buf_fini(&all);
}

bool
model_is(struct store *s, const struct model_session *m)
{
    struct buf want, got;

    buf_init(&want, SIZE_MAX / 4);
    buf_init(&got, SIZE_MAX / 4);
    model_frames(m, &want);
    bool is = !read_frames(s, m->id, 20000, &got) && got.len == want.len &&
              !memcmp(got.p, want.p, got.len);
    buf_fini(&want);
    buf_fini(&got);
    return is;
}
