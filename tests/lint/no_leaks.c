/* Memory that is freed by its scope, or passed on: no report of lint-tidy. */
#include "base/list.h"
#include "base/own.h"

#include <stdlib.h>

struct item {
    struct list link;
    int value;
};

static void
item_freep(struct item **i)
{
    free(*i);
}

int no_leaks_item_new(int value, OWN struct item **ret);
int no_leaks_push(struct list *to, int value);
void no_leaks_clear(struct list *l);

int
no_leaks_item_new(int value, OWN struct item **ret)
{
    CLEANUP(item_freep) struct item *i = calloc(1, sizeof *i);

    if (!i)
        return -1;
    i->value = value;
    if (value < 0)
        return -1;
    *ret = STEAL(i);
    return 0;
}

int
no_leaks_push(struct list *to, int value)
{
    struct item *i;

    if (no_leaks_item_new(value, &i) < 0)
        return -1;
    list_push_back(to, &i->link);
    return 0;
}

void
no_leaks_clear(struct list *l)
{
    LIST_FOR_EACH_SAFE(it, l) {
        list_remove(it);
        free(CONTAINER_OF(it, struct item, link));
    }
}
