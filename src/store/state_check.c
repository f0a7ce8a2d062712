/* Cuts a worker's stream of frames at the ends of commits.
 *
 * The bytes are untrusted and may arrive in pieces of any size. Only complete
 * frames are passed on, and a commit above STATE_PART_BYTES is passed on in
 * parts, so that memory is bounded whatever a worker sends. */
#include "store/state_check.h"

#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 4096, ROOM_FIRST = 65536 };

void
state_check_fini(struct state_check *c)
{
    free(c->p);
    *c = (struct state_check){0};
}

char *
state_check_room(struct state_check *c, size_t *ret_room)
{
    if (c->cap - c->len < ROOM_MIN) {
        size_t cap = c->cap ? 2 * c->cap : ROOM_FIRST;
        char *p = realloc(c->p, cap);
        if (!p)
            return NULL;
        c->p = p;
        c->cap = cap;
    }
    *ret_room = c->cap - c->len;
    return c->p + c->len;
}

void
state_check_add(struct state_check *c, size_t n)
{
    c->len += n;
}

static int
state_check_refuse(struct state_check *c, const char *what)
{
    (void)snprintf(c->why, sizeof c->why, "in the records of its state: %s",
                   what);
    return -EPROTO;
}

/* Removes the first bytes. An empty buffer is freed, because most of the time
 * most sessions are idle. */
static void
state_check_cut(struct state_check *c, size_t n)
{
    c->len -= n;
    c->n_whole = 0;
    if (c->len) {
        memmove(c->p, c->p + n, c->len);
        return;
    }
    free(STEAL(c->p));
    c->cap = 0;
}

/* Passes on the complete frames so far, without the end frame of
 * `end_bytes`. */
static int
state_check_give(struct state_check *c, bool is_last, size_t end_bytes,
                 struct state_part *ret)
{
    struct state_part part = {.len = c->n_whole,
                              .commit = c->commit + 1,
                              .is_first = !c->is_amid,
                              .is_last = is_last};

    if (part.len) {
        part.frames = malloc(part.len);
        if (!part.frames)
            return -ENOMEM;
        memcpy(part.frames, c->p, part.len);
    }
    state_check_cut(c, part.len + end_bytes);
    c->is_amid = !is_last;
    c->commit += is_last;
    *ret = part;
    return 1;
}

/* The worker numbers its commits. A gap would mean that bytes were lost or
 * invented. */
static int
state_check_give_last(struct state_check *c, const uint8_t *frame,
                      struct state_part *ret)
{
    if (record_end_get(frame + RECORD_HEAD_BYTES) != c->commit + 1)
        return state_check_refuse(c, "commits are not in order");
    return state_check_give(c, true, RECORD_HEAD_BYTES + RECORD_END_BYTES, ret);
}

/* Returns 1 if the next frame is complete. record_head_get bounds its length,
 * so the buffer cannot grow without limit. */
static int
state_check_look(struct state_check *c, struct record_head *ret,
                 size_t *ret_len)
{
    size_t left = c->len - c->n_whole;

    if (left < RECORD_HEAD_BYTES)
        return 0;
    if (record_head_get((const uint8_t *)c->p + c->n_whole, ret))
        return state_check_refuse(c, "a malformed frame");
    *ret_len = RECORD_HEAD_BYTES + ret->key_len + (size_t)ret->value_len;
    return left >= *ret_len;
}

/* A part ends after a whole record, when it is long enough or when the commit
 * ends. */
int
state_check_take(struct state_check *c, struct state_part *ret)
{
    struct record_head h;
    size_t len;
    int r;

    while ((r = state_check_look(c, &h, &len)) > 0) {
        if (h.op == RECORD_END)
            return state_check_give_last(c, (const uint8_t *)c->p + c->n_whole,
                                         ret);
        c->n_whole += len;
        if (c->n_whole >= STATE_PART_BYTES)
            return state_check_give(c, false, 0, ret);
    }
    return r;
}
