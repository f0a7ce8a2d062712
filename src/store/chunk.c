/* Chunks: large values, shared by content. The hash is computed here from the
 * bytes, never received from a worker, and the bytes are verified whenever they
 * are used. Values outside of chunks have a checksum, which only protects
 * against bad disks. */
#include "base/blake2b.h"
#include "store/store_impl.h"

#include <errno.h>
#include <string.h>

/* Returns whether the column contains exactly these bytes. */
static bool
chunk_is_blob(sqlite3_stmt *st, int column, const void *p, size_t len)
{
    const void *blob = sqlite3_column_blob(st, column);

    return (size_t)sqlite3_column_bytes(st, column) == len &&
           (!len || (blob && !memcmp(blob, p, len)));
}

/* Returns 1 if there is a chunk with this hash. A commit that brings the same
 * content again repairs a chunk whose bytes were damaged. */
static int
chunk_find(struct store *s, const uint8_t *hash, const void *p, size_t len,
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
        is_whole = chunk_is_blob(st, 1, p, len);
    }
    int r = is_whole ? 0 : sql_run(s, SQL_chunk_heal, "ib", *ret_id, p, len);
    return r < 0 ? r : 1;
}

/* Chooses a number that no chunk ever had.
 *
 * Problem: a number must never stand for two contents. If a page of the
 * database is replaced by an older version, a record could otherwise name a
 * chunk that had another content under the same number. Its checksum would
 * match, because it covers the number of the chunk only. Numbers of deleted
 * chunks are not known after a restart, so a random number of them is
 * skipped. */
static int
chunk_next_id(struct store *s, int64_t *ret_id)
{
    uint16_t skipped;
    int r = 0;

    if (!s->last_chunk) {
        r = sql_number(s, &s->last_chunk, SQL_chunk_last, "");
        sqlite3_randomness(sizeof skipped, &skipped);
        s->last_chunk += skipped & 0x3ff;
    }
    if (r == 0)
        *ret_id = ++s->last_chunk;
    return r;
}

int
store_chunk_put(struct store *s, const void *p, size_t len, int64_t *ret_id)
{
    uint8_t hash[BLAKE2B_BYTES];

    blake2b_hash(p, len, hash);
    int r = chunk_find(s, hash, p, len, ret_id);
    if (r != 0)
        return r < 0 ? r : 0;
    r = chunk_next_id(s, ret_id);
    return r < 0 ? r
                 : sql_run(s, SQL_chunk_insert, "ibb", *ret_id, hash,
                           sizeof hash, p, len);
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
        return store_fail(s, -EBADMSG, "a chunk is missing");
    *ret = sqlite3_column_blob(*ret_st, 1);
    *ret_len = (size_t)sqlite3_column_bytes(*ret_st, 1);
    blake2b_hash(*ret, *ret_len, hash);
    if (!chunk_is_blob(*ret_st, 0, hash, sizeof hash))
        return store_fail(s, -EBADMSG, "a chunk is damaged");
    return 0;
}

/* --- sums
 *
 * A checksum has 30 bits below a mark that is always set. SQLite then stores
 * every checksum in four bytes, so a record whose value keeps its length is
 * overwritten in place. Earlier programs stored 32 bits; comparing 30 of them
 * accepts both. */
enum { SUM_MARK = 0x40000000 };

/* A fast hash, 8 bytes at a time (multiply and fold). It detects bad disks, not
 * attackers: against those, chunks have a cryptographic hash. */
uint64_t
store_mix(uint64_t h, const void *p, size_t len)
{
    const uint8_t *at = p;
    uint64_t word;

    for (; len >= sizeof word; len -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    word = 0;
    if (len)
        memcpy(&word, at, len);
    h = (h ^ word ^ (uint64_t)len << 56) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

int64_t
store_record_sum(const void *key, size_t key_len, const void *value, size_t len,
                 int64_t chunk)
{
    uint64_t h = store_mix(len, key, key_len);

    h = chunk ? store_mix(h, &chunk, sizeof chunk) : store_mix(h, value, len);
    return (int64_t)(h >> 32 & SUM_BITS) | SUM_MARK;
}

bool
store_record_sum_is(int64_t sum, int64_t stored)
{
    return !((sum ^ stored) & SUM_BITS);
}
