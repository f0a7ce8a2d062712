/* Commands that were run. */
#include "lib/history.h"

#include "lib/lib.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct line {
    _Atomic uint32_t refs;
    size_t bytes; /* with the NUL */
    char text[];
};

/* A ring: the oldest is v[first]. */
struct history {
    _Atomic uint32_t refs;
    size_t first, n, bytes;
    struct line *v[HISTORY_MAX];
};

static void
line_put(struct line *l)
{
    if (atomic_fetch_sub(&l->refs, 1) == 1)
        free(l);
}

static struct line *
line_at(const struct history *h, size_t i)
{
    return h->v[(h->first + i) % HISTORY_MAX];
}

struct history *
history_get(struct history *h)
{
    if (h)
        atomic_fetch_add(&h->refs, 1);
    return h;
}

void
history_put(OWN struct history *h)
{
    if (!h || atomic_fetch_sub(&h->refs, 1) != 1)
        return;
    for (size_t i = 0; i < h->n; i++)
        line_put(line_at(h, i));
    free(h);
}

/* Makes *h one that nobody else has. */
static bool
own(struct history **h)
{
    struct history *old = *h;

    if (old && atomic_load(&old->refs) == 1)
        return true;
    struct history *copy = calloc(1, sizeof *copy);
    if (!copy)
        return false;
    if (old)
        memcpy(copy, old, sizeof *copy);
    atomic_init(&copy->refs, 1);
    for (size_t i = 0; i < copy->n; i++)
        atomic_fetch_add(&line_at(copy, i)->refs, 1);
    history_put(old);
    *h = copy;
    return true;
}

static void
drop_oldest(struct history *h)
{
    struct line *l = h->v[h->first];

    h->bytes -= l->bytes;
    h->first = (h->first + 1) % HISTORY_MAX;
    h->n--;
    line_put(l);
}

void
history_add(struct history **ph, const char *text, size_t len)
{
    size_t bytes = strnlen(text, len) + 1;

    if (bytes > HISTORY_BYTES_MAX || !own(ph))
        return;
    struct line *l = malloc(sizeof *l + bytes);
    if (!l)
        return;
    atomic_init(&l->refs, 1);
    l->bytes = bytes;
    memcpy(l->text, text, bytes - 1);
    l->text[bytes - 1] = 0;
    struct history *h = *ph;
    while (h->n == HISTORY_MAX || h->bytes + bytes > HISTORY_BYTES_MAX)
        drop_oldest(h);
    h->v[(h->first + h->n++) % HISTORY_MAX] = l;
    h->bytes += bytes;
}

size_t
history_n(const struct history *h)
{
    return h ? h->n : 0;
}

const char *
history_at(const struct history *h, size_t i)
{
    return line_at(h, i)->text;
}

size_t
history_bytes(const struct history *h)
{
    return h ? h->bytes : 0;
}

/* --- the functions */

int
wsand_history_list(struct wsand_sandbox *sb, char ***ret,
                   struct wsand_error *err)
{
    SANDBOX_TURN(sb, err);
    const struct history *h = sb->history;
    size_t n = history_n(h);
    char **v = malloc((n + 1) * sizeof *v + history_bytes(h));
    if (!v)
        return error_set(err, ENOMEM, "out of memory");
    char *s = (char *)(v + n + 1);
    for (size_t i = 0; i < n; i++) {
        v[i] = s;
        s = stpcpy(s, history_at(h, i)) + 1;
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
