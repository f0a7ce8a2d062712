/* A circular doubly linked list with the links inside the objects.
 *
 * The head is a node like the others, so that no operation has a special case.
 * An object can be removed without knowing its list. Nothing here allocates:
 * adding to a list cannot fail. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next, *prev;
};

#define CONTAINER_OF(ptr, type, member) \
    ((type *)((char *)(ptr)-offsetof(type, member)))

#define LIST_FOR_EACH(it, head) \
    for (struct list *it = (head)->next; it != (head); it = it->next)

/* Like LIST_FOR_EACH, but the body may remove `it` (and nothing else). */
#define LIST_FOR_EACH_SAFE(it, head)                                          \
    for (struct list *it = (head)->next, *it##_next = it->next; it != (head); \
         it = it##_next, it##_next = it->next)

static inline void
list_init(struct list *l)
{
    l->next = l->prev = l;
}

static inline bool
list_is_empty(const struct list *l)
{
    return l->next == l;
}

static inline void
list_insert_after(struct list *at, struct list *l)
{
    l->prev = at;
    l->next = at->next;
    at->next->prev = l;
    at->next = l;
}

static inline void
list_push_front(struct list *head, struct list *l)
{
    list_insert_after(head, l);
}

static inline void
list_push_back(struct list *head, struct list *l)
{
    list_insert_after(head->prev, l);
}

/* Removes `l` and leaves it as an empty list, so removing it again does
 * nothing. */
static inline void
list_remove(struct list *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    list_init(l);
}

/* Moves all elements of `from` to the end of `to`; `from` is empty afterwards.
 */
static inline void
list_move(struct list *from, struct list *to)
{
    list_insert_after(from, to);
    list_remove(from);
}

#endif
