/* The root images that have names: listed by the user, or installed as
 * share/wasmsand/images/NAME.tar. */
#ifndef SUPERVISOR_IMAGE_LIST_H
#define SUPERVISOR_IMAGE_LIST_H

#include <stddef.h>

struct image_entry {
    char *name, *path;
};

/* Starts as zeros. The entries are owned. */
struct image_list {
    struct image_entry *v;
    size_t n;
};

/* Adds the images of a text NAME=PATH,NAME=PATH, in which paths are absolute
 * and have no commas. -EINVAL: the text has another form, or a name that is
 * invalid, used twice or "default"; the entries before it were added.
 * -ENOMEM. */
int image_list_parse(struct image_list *l, const char *text);
/* Adds the images NAME.tar of a folder, except those that are in the list. A
 * missing folder has none. -ENOMEM. */
int image_list_scan(struct image_list *l, const char *dir);
void image_list_fini(struct image_list *l);

#endif
