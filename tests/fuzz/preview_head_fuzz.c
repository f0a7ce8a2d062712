/* Fuzzes heads of requests to previews. A head that is accepted is written as a
 * head that is accepted too, means the same and has no token, and writing that
 * one changes nothing. */
#include "supervisor/front/preview_head.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok)
{
    if (!ok)
        abort();
}

static bool
is_same(struct text a, struct text b)
{
    return a.len == b.len && (!a.len || !memcmp(a.p, b.p, a.len));
}

/* A written head can exceed the maximum by its last line. */
static void
check_written(const struct preview_head *h, const struct buf *first)
{
    struct preview_head again;
    struct buf second;
    int n = preview_head_parse(first->p, first->len, &again);

    if (n == -431)
        return;
    must(n == (int)first->len && is_same(h->host, again.host));
    must(!again.token.p && h->is_upgrade == again.is_upgrade);
    must(h->body_bytes == again.body_bytes);
    buf_init(&second, SIZE_MAX);
    preview_head_put(&again, &second);
    must(second.len == first->len && !memcmp(second.p, first->p, first->len));
    buf_fini(&second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct preview_head h;
    struct buf b;
    int n = preview_head_parse((const char *)data, size, &h);

    must(n <= (int)size && (n >= 0 || n == -400 || n == -411 || n == -431));
    if (n <= 0)
        return 0;
    buf_init(&b, SIZE_MAX);
    preview_head_put(&h, &b);
    must(!b.error);
    check_written(&h, &b);
    buf_fini(&b);
    return 0;
}
