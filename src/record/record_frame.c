/* Frames: records on a stream between a worker and the supervisor.
 *
 * A frame is a head of fixed size, the key and the value. The head is
 * little-endian, unlike keys and values, because nobody sorts it. Its lengths
 * are checked before a reader allocates anything. */
#include "record/record.h"

#include <errno.h>

static void
record_put_le(uint8_t *p, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t
record_get_le(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    while (bytes--)
        v = v << 8 | p[bytes];
    return v;
}

void
record_head_put(const struct record_head *h, uint8_t ret[RECORD_HEAD_BYTES])
{
    ret[0] = (uint8_t)h->op;
    ret[1] = 0;
    record_put_le(ret + 2, h->key_len, 2);
    record_put_le(ret + 4, h->value_len, 4);
}

int
record_head_get(const uint8_t head[RECORD_HEAD_BYTES], struct record_head *ret)
{
    struct record_head h = {.op = head[0],
                            .key_len = (uint16_t)record_get_le(head + 2, 2),
                            .value_len = (uint32_t)record_get_le(head + 4, 4)};
    bool has_key = h.key_len && h.key_len <= RECORD_KEY_MAX;
    bool is_well =
        (h.op == RECORD_PUT && has_key && h.value_len <= RECORD_VALUE_MAX) ||
        (h.op == RECORD_DELETE && has_key && !h.value_len) ||
        (h.op == RECORD_END && !h.key_len && h.value_len == RECORD_END_BYTES);

    if (head[1] || !is_well)
        return -EINVAL;
    *ret = h;
    return 0;
}

void
record_end_put(uint64_t number, uint8_t ret[RECORD_END_BYTES])
{
    record_put_le(ret, number, RECORD_END_BYTES);
}

uint64_t
record_end_get(const uint8_t value[RECORD_END_BYTES])
{
    return record_get_le(value, RECORD_END_BYTES);
}
