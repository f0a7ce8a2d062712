/* What a hostile worker can send as its state: cut into batches, committed,
 * and read again. All of it happens in one transaction that is undone. */
#include "base/buf.h"
#include "record/record.h"
#include "store/state_check.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct store *store;

static void
must(bool is, const char *what)
{
    if (is)
        return;
    fprintf(stderr, "store_fuzz: %s: %s\n", what, store_why(store));
    abort();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char dir[] = "/tmp/wasmsand-store-fuzz-XXXXXX";
    struct store_options o = {.vfs = "memdb"};
    char why[STORE_WHY_BYTES], path[64];

    (void)argc;
    (void)argv;
    if (!mkdtemp(dir) || store_open(dir, &o, why, &store) < 0)
        abort();
    (void)snprintf(path, sizeof path, "%s/lock", dir);
    return remove(path) || remove(dir);
}

/* Commits all that comes; false: the worker would be gone. */
static bool
feed(struct state_check *c, const uint8_t *p, size_t n)
{
    struct state_part part;
    size_t room;
    char *to = state_check_room(c, &room);
    int r;

    must(to && room >= n, "no room");
    memcpy(to, p, n);
    state_check_add(c, n);
    while ((r = state_check_take(c, &part)) > 0) {
        struct store_batch b = {"a", part.frames, part.len, part.is_first,
                                part.is_last};
        r = store_commit(store, &b);
        free(part.frames);
        must(r == 0 || r == -EPROTO || r == -EDQUOT, "commit");
        if (r < 0)
            return false;
    }
    must(r == 0 || r == -EPROTO, "take");
    return r == 0;
}

/* What is read is well-formed and in order. */
static void
check_frames(const struct buf *b)
{
    const uint8_t *p = (const uint8_t *)b->p, *end = p + b->len, *last = NULL;
    struct record_head h, before = {0};

    for (; p < end; p += RECORD_HEAD_BYTES + h.key_len + h.value_len) {
        const uint8_t *key = p + RECORD_HEAD_BYTES;
        must(!record_head_get(p, &h), "head");
        if (h.op == RECORD_END)
            break;
        must(!record_check(key, h.key_len, key + h.key_len, h.value_len),
             "record");
        size_t n = h.key_len < before.key_len ? h.key_len : before.key_len;
        int order = last ? memcmp(last, key, n) : -1;
        must(order < 0 || (!order && before.key_len < h.key_len), "order");
        last = key;
        before = h;
    }
    must(p + RECORD_HEAD_BYTES + RECORD_END_BYTES == end, "end");
}

static void
check_finding(void *arg, const struct store_finding *f)
{
    (void)arg;
    must(strstr(f->what, "does not fit"), f->what);
}

static void
check_state(void)
{
    struct store_cursor cursor = {.len = 0};
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    while (!cursor.is_done)
        must(!store_read(store, "a", 1000, &cursor, &b), "read");
    check_frames(&b);
    buf_fini(&b);
    (void)store_discard(store, "a");
    must(store_repair(store, "a", true, check_finding, NULL) >= 0, "repair");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store_session row = {.id = "a",
                                .quota = {1 << 16, 16, 16, 4, 1 << 16}};
    struct store_session copy = {.id = "b"};
    struct state_check c = {0};
    size_t step = size ? 1 + *data : 1;
    bool goes_on = true;

    must(!store_begin(store, false), "begin");
    must(!store_session_create(store, &row), "create");
    for (size_t at = 1; at < size && goes_on; at += step) {
        goes_on = feed(&c, data + at, size - at < step ? size - at : step);
        if (at == 1 + step)
            must(!store_fork(store, "a", &copy), "fork");
    }
    check_state();
    store_undo(store);
    state_check_fini(&c);
    return 0;
}
