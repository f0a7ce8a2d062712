/* persistence.*: exports and imports, whole or in parts. */
#include "rpc/transfer.h"

#include "base/os_time.h"
#include "rpc/methods.h"
#include "rpc/slot.h"
#include "rpc/values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENTRY_BYTES = 3 << 10, /* of an archive, beside what a file holds */
    SHELL_BYTES = 16 << 20,
};

/* One that is going on. A sandbox has at most one in each direction. */
struct transfer {
    char *id;
    struct buf bytes;
    size_t part_bytes; /* of an export */
    uint64_t seq;      /* of the next part of an import */
};

void
transfer_free(struct transfer *t)
{
    if (!t)
        return;
    buf_fini(&t->bytes);
    free(t->id);
    free(t);
}

/* No archive of what the sandbox may hold is larger. */
static size_t
transfer_bytes_max(const struct wsand_sandbox *sb)
{
    struct wsand_status s = {.size = sizeof s};
    size_t max;

    if (wsand_status(sb, &s, NULL) != 0 ||
        __builtin_mul_overflow(s.max.files, ENTRY_BYTES, &max) ||
        __builtin_add_overflow(max, s.max.file_bytes, &max) ||
        __builtin_add_overflow(max, SHELL_BYTES, &max))
        return SIZE_MAX;
    return max;
}

/* The bytes of an import are limited by what the sandbox may hold, so that a
 * client cannot fill the memory of the server with parts. */
static struct transfer *
transfer_new(const struct wsand_sandbox *sb, const char *id)
{
    struct transfer *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    buf_init(&t->bytes, transfer_bytes_max(sb));
    t->id = strdup(id);
    if (t->id)
        return t;
    transfer_free(t);
    return NULL;
}

static void
transfer_answer_unknown(OWN struct call *q)
{
    answer_error(q, INVALID_PARAMS, "Unknown transferId: %.200s",
                 param_text(q, "transferId"));
}

/* --- export */

/* A part can be requested again, because the whole archive is kept until the
 * next export. */
static void
transfer_answer_part(OWN struct call *q, struct transfer *t, uint64_t seq)
{
    size_t n_parts = (t->bytes.len + t->part_bytes - 1) / t->part_bytes;

    if (seq >= n_parts) {
        answer_error(q, INVALID_PARAMS, "seq is past the last part");
        return;
    }
    size_t at = (size_t)seq * t->part_bytes, left = t->bytes.len - at;
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"data\":");
    put_base64(b, t->bytes.p + at, left < t->part_bytes ? left : t->part_bytes);
    put_name(b, "transferId");
    put_text(b, t->id);
    put_number(b, "seq", seq);
    put_bool(b, "last", seq + 1 == n_parts);
    buf_add(b, "}", 1);
    answer_end(q);
}

/* The id is new for each export, so that parts of two exports are never mixed.
 */
static void
transfer_begin_parts(OWN struct call *q, OWN char *data, size_t len,
                     size_t part_bytes)
{
    struct slot *slot = slot_of(q);
    char id[24];

    (void)snprintf(id, sizeof id, "t%" PRId64, time_mono_ns());
    transfer_free(slot->export);
    slot->export = transfer_new(sandbox_of(q), id);
    if (!slot->export) {
        free(data);
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    slot->export->bytes.p = data;
    slot->export->bytes.len = slot->export->bytes.cap = len;
    slot->export->part_bytes = part_bytes;
    transfer_answer_part(q, slot->export, 0);
}

/* With a size of parts, the archive stays in memory until it is replaced or
 * the sandbox is freed. */
static void
transfer_export(OWN struct call *q)
{
    size_t part_bytes = (size_t)param_int(q, "partBytes", 0), len;
    struct wsand_error err = {0};
    void *data;

    int r = wsand_export(sandbox_of(q), &data, &len, &err);
    if (r != 0) {
        answer_failure(q, &err);
    } else if (part_bytes) {
        transfer_begin_parts(q, data, len, part_bytes);
    } else {
        answer_data(q, data, len);
        free(data);
    }
}

/* Only the first request makes the archive: all parts are of one state. */
void
do_export(struct call *q)
{
    const char *id = param_text(q, "transferId");
    struct transfer *t = slot_of(q)->export;

    if (!id)
        transfer_export(q);
    else if (!t || strcmp(t->id, id) != 0)
        transfer_answer_unknown(q);
    else
        transfer_answer_part(q, t, (uint64_t)param_int(q, "seq", 0));
}

/* --- import */

static void
transfer_import(OWN struct call *q, const char *data, size_t len)
{
    struct wsand_error err = {0};

    int r = wsand_import(sandbox_of(q), data, len, &err);
    answer_status(q, r, &err);
}

/* The transfer that a part belongs to; NULL: q was answered. */
static struct transfer *
transfer_import_of(OWN struct call *q, const char *id, uint64_t seq)
{
    struct slot *slot = slot_of(q);

    if (seq == 0) {
        transfer_free(slot->import);
        slot->import = transfer_new(sandbox_of(q), id);
        if (!slot->import)
            answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return slot->import;
    }
    if (!slot->import || strcmp(slot->import->id, id) != 0) {
        transfer_answer_unknown(q);
        return NULL;
    }
    if (slot->import->seq != seq) {
        answer_error(q, INVALID_PARAMS, "seq must be %" PRIu64,
                     slot->import->seq);
        return NULL;
    }
    return slot->import;
}

/* Nothing is changed before the last part is there and the whole archive was
 * checked. */
static void
transfer_import_part(OWN struct call *q, const char *id, const char *data,
                     size_t len)
{
    struct slot *slot = slot_of(q);
    struct transfer *t =
        transfer_import_of(q, id, (uint64_t)param_int(q, "seq", 0));

    if (!t)
        return;
    buf_add(&t->bytes, data, len);
    t->seq++;
    if (t->bytes.error) {
        answer_error(q, SANDBOX_ERROR, "%s: the import is too large",
                     strerrorname_np(-t->bytes.error));
    } else if (!param_bool(q, "last", false)) {
        answer_ok(q);
        return;
    } else {
        transfer_import(q, t->bytes.p, t->bytes.len);
    }
    transfer_free(STEAL(slot->import));
}

/* The data is decoded before the id is considered, so that a part that is not
 * base64 does not end the transfer. */
void
do_import(struct call *q)
{
    const char *id = param_text(q, "transferId");
    size_t len;
    char *data;

    if (decode_base64(param_string(q, "data"), &data, &len) < 0) {
        answer_error(q, INVALID_PARAMS, "data is not base64");
        return;
    }
    if (id)
        transfer_import_part(q, id, data, len);
    else
        transfer_import(q, data, len);
    free(data);
}
