/* Layers: sets of records, each on top of its parent.
 *
 * A session owns its first layer, to which its commits write. It sees the
 * records of that layer, and of the parents those that no nearer layer has
 * (walk.c). No commit writes to a layer with children, so forks share it.
 *
 * The first layer has totals over all visible records: amounts for the quota,
 * and a digest. A commit updates them from its own records alone. The digest
 * is the sum of one hash for each record, modulo 2^64. A sum does not depend on
 * the order of the records, and a removed record is subtracted again. After all
 * records were read, the sum of their hashes must be equal to it: then none is
 * missing, and none is left over. It detects damage, not intent. */
#include "base/vec.h"
#include "record/record.h"
#include "store/store_impl.h"

#include <errno.h>
#include <stdlib.h>

/* A row names its layers, so a missing one means that the store is damaged. */
int
layer_get(struct store *s, int64_t id, struct layer *ret)
{
    SQL *st = sql_start(s, SQL_layer_get, "i", id);
    int r = sql_step(s, st);

    if (r < 0)
        return r;
    if (!r)
        return store_fail(s, -EBADMSG,
                          "the store is damaged: a layer is missing");
    *ret = (struct layer){
        .parent = sqlite3_column_int64(st, 0),
        .session = sqlite3_column_int64(st, 1),
        .used = {.bytes = (uint64_t)sqlite3_column_int64(st, 2),
                 .inodes = (uint64_t)sqlite3_column_int64(st, 3),
                 .names = (uint64_t)sqlite3_column_int64(st, 4),
                 .pages = (uint64_t)sqlite3_column_int64(st, 5),
                 .other = (uint64_t)sqlite3_column_int64(st, 6)},
        .digest = (uint64_t)sqlite3_column_int64(st, 7),
        .commits = (uint64_t)sqlite3_column_int64(st, 8),
        .session_row_sum = sqlite3_column_int64(st, 9),
    };
    return 0;
}

int
layer_add(struct store *s, const struct layer *l, int64_t *ret_id)
{
    const struct store_amounts *u = &l->used;
    int r = sql_run(s, SQL_layer_insert, "iiiiiiiiii", l->parent, l->session,
                    u->bytes, u->inodes, u->names, u->pages, u->other,
                    l->digest, l->commits, l->session_row_sum);

    if (r == 0)
        *ret_id = sqlite3_last_insert_rowid(s->db);
    return r;
}

int
layer_put(struct store *s, int64_t id, const struct layer *l)
{
    const struct store_amounts *u = &l->used;

    return sql_run(s, SQL_layer_put, "iiiiiiiii", id, u->bytes, u->inodes,
                   u->names, u->pages, u->other, l->digest, l->commits,
                   l->session_row_sum);
}

/* Inodes, names and pages are counted; for all other records the bytes matter.
 * A block of a file costs its whole size, as on a disk, unless it is empty. */
static void
layer_add_amount(struct store_amounts *a, const uint8_t *key, uint64_t key_len,
                 uint64_t len, bool is_there)
{
    uint64_t *amount = &a->other, n = key_len + len;

    if (*key == RECORD_INODE || *key == RECORD_NAME || *key == RECORD_PAGE) {
        amount = *key == RECORD_INODE  ? &a->inodes
                 : *key == RECORD_NAME ? &a->names
                                       : &a->pages;
        n = 1;
    } else if (*key == RECORD_ATTRS) {
        amount = &a->bytes;
        n = len;
    } else if (*key == RECORD_BLOCK && len) {
        amount = &a->bytes;
        n = RECORD_BLOCK_BYTES;
    }
    *amount = is_there ? *amount + n : *amount - n;
}

/* The checksum of the record covers its value, so the value is not needed
 * here. */
uint64_t
layer_digest_of(const void *key, size_t key_len, uint64_t len, int64_t sum)
{
    return store_mix(len << 32 ^ (uint64_t)(sum & SUM_BITS), key, key_len);
}

void
layer_charge(struct layer *l, const uint8_t *key, size_t key_len, uint64_t len,
             int64_t sum, bool is_there)
{
    uint64_t digest = layer_digest_of(key, key_len, len, sum);

    layer_add_amount(&l->used, key, key_len, len, is_there);
    l->digest = is_there ? l->digest + digest : l->digest - digest;
}

/* store_tidy searches only the layers that are listed as loose, not all of
 * them. */
int
layer_loosen(struct store *s, int64_t id)
{
    s->may_tidy = true;
    return id ? sql_run(s, SQL_loose_layer, "i", id) : 0;
}

int
layer_disown(struct store *s, int64_t id)
{
    int r = sql_run(s, SQL_layer_owner, "ii", id, (int64_t)0);

    return r < 0 ? r : layer_loosen(s, id);
}

static int
layer_chain_push(struct chain *c, int64_t id)
{
    if (!VEC_ROOM(c->ids, c->n))
        return -ENOMEM;
    c->ids[c->n++] = id;
    return 0;
}

/* Reads one parent after the other. The numbers must fall on the way, because a
 * parent is older than its children: a damaged store cannot make this loop
 * endless. */
int
layer_chain_init_of(struct store *s, int64_t layer, int64_t parent,
                    struct chain *ret)
{
    CLEANUP(layer_chain_fini) struct chain c = {0};
    int r = 0;

    while (layer) {
        if (c.n && layer >= c.ids[c.n - 1])
            return store_fail(s, -EBADMSG,
                              "the store is damaged: layers in a ring");
        if (layer_chain_push(&c, layer))
            return store_fail(s, -ENOMEM, "no memory");
        layer = parent;
        if (layer)
            r = sql_number(s, &parent, SQL_layer_parent, "i", layer);
        if (r < 0)
            return r;
    }
    *ret = c;
    c = (struct chain){0};
    return 0;
}

int
layer_chain_init(struct store *s, int64_t layer, struct chain *ret)
{
    int64_t parent = 0;
    int r = sql_number(s, &parent, SQL_layer_parent, "i", layer);

    return r < 0 ? r : layer_chain_init_of(s, layer, parent, ret);
}

void
layer_chain_fini(struct chain *c)
{
    free(c->ids);
}
