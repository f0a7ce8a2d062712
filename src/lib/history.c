/* The commands of a sandbox: a persistent map by number (tree/radix.h). Copies
 * therefore cost nothing, and the difference of two histories is found along
 * their shared structure.
 *
 * Numbers only grow. The oldest commands are dropped when there are too many,
 * or too many bytes. */
#include "lib/history.h"

#include "lib/error.h"
#include "lib/sandbox.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One command. Shared by all histories that contain it. */
struct history_line {
    struct shared ref;
    size_t bytes; /* with the NUL */
    char text[];
};

struct history {
    struct shared ref;
    struct radix lines;   /* number -> struct history_line */
    uint64_t first, next; /* numbers: those of the lines are first..next-1 */
    size_t bytes;
};

/* A line refers to nothing else, so the deferred free list is not needed. */
static void
history_line_free(struct shared *s, struct free_list *g)
{
    (void)g;
    free(s);
}

static const struct radix_ops line_ops = {.free = history_line_free};

struct history *
history_get(struct history *h)
{
    if (h)
        shared_get(&h->ref);
    return h;
}

void
history_put(OWN struct history *h)
{
    if (!h || !shared_put(&h->ref))
        return;
    radix_fini(&h->lines, &line_ops);
    free(h);
}

/* Replaces *h by a copy that nobody else refers to (copy-on-write). The copy
 * shares all lines. */
static bool
history_copy(struct history **h)
{
    struct history *old = *h;
    struct history *copy = calloc(1, sizeof *copy);
    if (!copy)
        return false;
    if (old) {
        memcpy(copy, old, sizeof *copy);
        radix_clone(&old->lines, &copy->lines);
    }
    shared_init(&copy->ref);
    history_put(old);
    *h = copy;
    return true;
}

static const struct history_line *
line_at(const struct history *h, uint64_t number)
{
    return (const struct history_line *)radix_find(&h->lines, number);
}

/* The length is read before the line is removed, which may free it. */
static int
history_drop_oldest(struct history *h)
{
    size_t bytes = line_at(h, h->first)->bytes;

    int r = radix_remove(&h->lines, &line_ops, h->first, NULL);
    if (r < 0)
        return r;
    h->bytes -= bytes;
    h->first++;
    return 0;
}

static size_t
history_n(const struct history *h)
{
    return h ? (size_t)(h->next - h->first) : 0;
}

/* Bytes after a NUL are not part of the command, as in the shell itself. */
int
history_add(struct history **ph, const char *text, size_t len)
{
    size_t bytes = strnlen(text, len) + 1;
    struct history *h = *ph;

    if (bytes > HISTORY_BYTES_MAX)
        return -E2BIG;
    if (!h || !shared_is_single(&h->ref)) {
        if (!history_copy(ph))
            return -ENOMEM;
        h = *ph;
    }
    while (h->next - h->first == HISTORY_MAX ||
           h->bytes + bytes > HISTORY_BYTES_MAX)
        if (history_drop_oldest(h) < 0)
            return -ENOMEM;
    struct history_line *l = malloc(sizeof *l + bytes);
    struct shared **at = l ? radix_slot(&h->lines, h->next) : NULL;
    if (!at) {
        free(l);
        return -ENOMEM;
    }
    shared_init(&l->ref);
    l->bytes = bytes;
    memcpy(l->text, text, bytes - 1);
    l->text[bytes - 1] = 0;
    *at = &l->ref;
    h->next++;
    h->bytes += bytes;
    return 0;
}

/* The first number is free, because old commands may have been dropped.
 * Untrusted numbers must then be consecutive. */
int
history_load(struct history **ph, uint64_t number, const char *text, size_t len)
{
    if ((!*ph || !shared_is_single(&(*ph)->ref)) && !history_copy(ph))
        return -ENOMEM;
    struct history *h = *ph;
    if (!history_n(h))
        h->first = h->next = number;
    if (number != h->next || history_n(h) == HISTORY_MAX ||
        h->bytes + len + 1 > HISTORY_BYTES_MAX)
        return -EINVAL;
    return history_add(ph, text, len);
}

void
history_diff(const struct history *a, const struct history *b,
             radix_differs *differs, void *arg)
{
    static const struct radix none;

    radix_diff(a ? &a->lines : &none, b ? &b->lines : &none, differs, arg);
}

const char *
history_text(const struct shared *line)
{
    return ((const struct history_line *)line)->text;
}

/* --- the public functions */

/* The list and its texts are one allocation, which the caller frees. */
int
wsand_history_list(struct wsand_sandbox *sb, char ***ret,
                   struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    const struct history *h = sb->history;
    size_t n = history_n(h);
    char **v = malloc((n + 1) * sizeof *v + (h ? h->bytes : 0));
    if (!v)
        return error_set(err, ENOMEM, "out of memory");
    char *s = (char *)(v + n + 1);
    for (size_t i = 0; i < n; i++) {
        v[i] = s;
        s = stpcpy(s, line_at(h, h->first + i)->text) + 1;
    }
    v[n] = NULL;
    *ret = v;
    return 0;
}

void
wsand_history_clear(struct wsand_sandbox *sb)
{
    if (!sandbox_enter(sb, NULL))
        return;
    history_put(STEAL(sb->history));
    sandbox_leave(sb);
}
