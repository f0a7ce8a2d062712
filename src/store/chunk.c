/* Chunks: large values, shared by content. The hash is made here from the
 * bytes, and the bytes are compared with it whenever they are used. */
#include "base/blake2b.h"
#include "store/store_impl.h"

#include <errno.h>
#include <string.h>

static void
hash_of(const void *p, size_t len, uint8_t ret[BLAKE2B_BYTES])
{
    struct blake2b b;

    blake2b_init(&b);
    blake2b_add(&b, p, len);
    blake2b_end(&b, ret);
}

/* The column has exactly these bytes. */
static bool
is_blob(sqlite3_stmt *st, int column, const void *p, size_t len)
{
    const void *blob = sqlite3_column_blob(st, column);

    return (size_t)sqlite3_column_bytes(st, column) == len &&
           (!len || (blob && !memcmp(blob, p, len)));
}

/* 1: it is there. One whose bytes were damaged gets them back. */
static int
find(struct store *s, const uint8_t *hash, const void *p, size_t len,
     int64_t *ret_id)
{
    bool is_whole;
    {
        SQL *st =
            sql_start(s, SQL_chunk_find, "b", hash, (size_t)BLAKE2B_BYTES);
        int r = sql_step(s, st);
        if (r <= 0)
            return r;
        *ret_id = sqlite3_column_int64(st, 0);
        is_whole = is_blob(st, 1, p, len);
    }
    int r = is_whole ? 0 : sql_run(s, SQL_chunk_heal, "ib", *ret_id, p, len);
    return r < 0 ? r : 1;
}

int
chunk_put(struct store *s, const void *p, size_t len, int64_t *ret_id)
{
    uint8_t hash[BLAKE2B_BYTES];

    hash_of(p, len, hash);
    int r = find(s, hash, p, len, ret_id);
    if (r != 0)
        return r < 0 ? r : 0;
    r = sql_run(s, SQL_chunk_insert, "bb", hash, sizeof hash, p, len);
    if (r == 0)
        *ret_id = sqlite3_last_insert_rowid(s->db);
    return r;
}

int
chunk_get(struct store *s, int64_t id, sqlite3_stmt **ret_st, const void **ret,
          size_t *ret_len)
{
    uint8_t hash[BLAKE2B_BYTES];

    *ret_st = sql_start(s, SQL_chunk_get, "i", id);
    int r = sql_step(s, *ret_st);
    if (r < 0)
        return r;
    if (!r)
        return fail(s, -EBADMSG, "a chunk is missing");
    *ret = sqlite3_column_blob(*ret_st, 1);
    *ret_len = (size_t)sqlite3_column_bytes(*ret_st, 1);
    hash_of(*ret, *ret_len, hash);
    if (!is_blob(*ret_st, 0, hash, sizeof hash))
        return fail(s, -EBADMSG, "a chunk is damaged");
    return 0;
}
