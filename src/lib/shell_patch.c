/* Records of the pages of a shell: pages, and a patch for small changes.
 *
 * Problem: a command changes a few words in a dozen pages of the shell.
 * Recording whole pages would write 50 KiB for each command.
 *
 * Idea: the recorded pages stay as a base, and one record, the patch, contains
 * the changed words of all pages relative to that base. The patch is rewritten
 * by each commit, so it always describes the current state: no sequence of
 * patches has to be replayed. A page is recorded again if its changes exceed
 * PAGE_PATCH_MAX, or if the patch is full. Then the pages that have not changed
 * since the last commit are recorded first (`settled`), because they will
 * probably stay as they are.
 *
 * Format: for each page its index (4 bytes) and the number of word sequences
 * (2). For each sequence the number of its first word (2), the number of words
 * (2), and the words. Numbers are little-endian. Zeros may
 * follow, because the record is padded to avoid changes of its length. */
#include "base/buf.h"
#include "lib/shell_pages_impl.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define WORD ((size_t)8)
/* Words of a page, words that are compared at once, and the maximum bytes of
 * changes for which a page is patched. */
enum {
    WORDS = SHELL_PAGE_BYTES / 8,
    STEP = 8,
    PAGE_PATCH_MAX = 512,
};

static void
shell_patch_put_u16(struct buf *b, unsigned n)
{
    uint16_t le = htole16((uint16_t)n);

    buf_add(b, &le, sizeof le);
}

static void
shell_patch_put_words(struct buf *b, const uint8_t *bytes, unsigned first,
                      unsigned n)
{
    shell_patch_put_u16(b, first);
    shell_patch_put_u16(b, n);
    buf_add(b, bytes + first * WORD, n * WORD);
}

static bool
shell_patch_words_are_equal(const uint8_t *a, const uint8_t *b, unsigned word,
                            unsigned n)
{
    return !memcmp(a + word * WORD, b + word * WORD, n * WORD);
}

/* Returns the next word that differs, or WORDS. Eight words at a time are
 * compared first, because most of a page is unchanged. */
static unsigned
shell_patch_words_next_change(const uint8_t *a, const uint8_t *b, unsigned i)
{
    while (i < WORDS &&
           shell_patch_words_are_equal(a, b, i, i % STEP ? 1 : STEP))
        i += i % STEP ? 1 : STEP;
    while (i < WORDS && shell_patch_words_are_equal(a, b, i, 1))
        i++;
    return i;
}

/* Appends the changes of one page. Returns false if they are too long; then b
 * is unchanged. */
static bool
shell_patch_put_page(struct buf *b, uint32_t index, const uint8_t *was,
                     const uint8_t *now, size_t max)
{
    const uint32_t le_index = htole32(index);
    size_t start = b->len;
    uint16_t n = 0;

    buf_add(b, &le_index, sizeof le_index);
    shell_patch_put_u16(b, 0); /* the number of sequences, known at the end */
    for (unsigned i = 0, first;
         (first = shell_patch_words_next_change(was, now, i)) < WORDS &&
         b->len - start <= PAGE_PATCH_MAX;
         n++) {
        for (i = first;
             i < WORDS && !shell_patch_words_are_equal(was, now, i, 1);)
            i++;
        shell_patch_put_words(b, now, first, i - first);
    }
    bool is_short =
        !b->error && b->len - start <= PAGE_PATCH_MAX && b->len <= max;
    n = htole16(n);
    if (is_short)
        memcpy(b->p + start + sizeof index, &n, sizeof n);
    else
        b->len = start;
    return is_short;
}

/* Walks base and current pages side by side. A page is kept in the base if it
 * is the same object, or if the patch describes its changes. Otherwise it is
 * recorded, and the current page becomes that of the base. */
int
shell_pages_update(const struct shell_pages_change *c, struct buf *patch,
                   OWN struct shell_pages **ret)
{
    struct page_pair at = {.a = c->base, .b = c->now};
    struct shell_pages *p = NULL;
    size_t hint = 0;

    int r = shell_pages_new(shell_pages_size(c->now), &p);
    while (r == 0 && shell_page_pair_next(&at)) {
        bool is_kept = at.x && at.x == at.y;
        bool may_be_patched =
            !is_kept && at.x && at.y &&
            at.y != shell_pages_find(c->settled, &hint, at.index);
        if (may_be_patched)
            is_kept = shell_patch_put_page(patch, at.index, at.x->bytes,
                                           at.y->bytes, c->patch_max);
        if (!is_kept)
            r = c->put(c->arg, at.index, at.y ? at.y->bytes : NULL);
        if (r == 0 && at.y)
            r = shell_pages_share(p, at.index, is_kept ? at.x : at.y);
    }
    if (r != 0) {
        shell_pages_put(p);
        return r;
    }
    *ret = p;
    return 0;
}

/* The rest of a patch that is being read. */
struct patch {
    const uint8_t *p, *end;
};

static bool
patch_get(struct patch *in, void *to, size_t len)
{
    if (len > (size_t)(in->end - in->p))
        return false;
    memcpy(to, in->p, len);
    in->p += len;
    return true;
}

/* Reads the index of the next page; false: only zeros are left. */
static bool
patch_get_index(struct patch *in, uint32_t *ret)
{
    const uint8_t *at = in->p;

    while (at < in->end && !*at)
        at++;
    if (at == in->end)
        in->p = at;
    if (!patch_get(in, ret, sizeof *ret))
        return false;
    *ret = le32toh(*ret);
    return true;
}

static bool
patch_get_u16(struct patch *in, uint16_t *ret)
{
    if (!patch_get(in, ret, sizeof *ret))
        return false;
    *ret = le16toh(*ret);
    return true;
}

/* The patch comes from a store and may be damaged or hostile, so every number
 * is checked against the page. */
static bool
patch_get_words(struct patch *in, uint8_t *bytes)
{
    uint16_t sequences, first, n;

    if (!patch_get_u16(in, &sequences))
        return false;
    while (sequences--)
        if (!patch_get_u16(in, &first) || !patch_get_u16(in, &n) ||
            first > WORDS || n > WORDS - first ||
            !patch_get(in, bytes + first * WORD, n * WORD))
            return false;
    return true;
}

/* Appends the next page of the patch, with its changes applied. */
static int
patch_apply_page(struct shell_pages *p, uint32_t index, const struct page *was,
                 struct patch *in)
{
    struct page *page = shell_page_new(was->bytes, sizeof was->bytes);

    if (!page)
        return -ENOMEM;
    bool is_patch = patch_get_words(in, page->bytes);
    int r = shell_pages_append(p, index, page);
    return is_patch ? r : -EINVAL;
}

/* Pages of the patch must be in the order of the base, and all of them must
 * exist there. */
int
shell_pages_patch(const struct shell_pages *base, const void *patch, size_t len,
                  OWN struct shell_pages **ret)
{
    struct patch in = {patch, (const uint8_t *)patch + len};
    struct page_pair at = {.a = base};
    struct shell_pages *p = NULL;
    uint32_t index = UINT32_MAX;

    int r = shell_pages_new(shell_pages_size(base), &p);
    bool has_more = patch_get_index(&in, &index);
    while (r == 0 && shell_page_pair_next(&at)) {
        if (!has_more || index != at.index) {
            r = shell_pages_share(p, at.index, at.x);
            continue;
        }
        r = patch_apply_page(p, index, at.x, &in);
        has_more = patch_get_index(&in, &index);
    }
    if (r == 0 && (has_more || in.p != in.end))
        r = -EINVAL;
    if (r != 0) {
        shell_pages_put(p);
        return r;
    }
    *ret = p;
    return 0;
}
