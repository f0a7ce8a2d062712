#include "supervisor/config/image_list.h"

#include "base/image_name.h"
#include "base/own.h"
#include "base/text.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool
image_list_has(const struct image_list *l, struct text name)
{
    for (size_t i = 0; i < l->n; i++)
        if (text_is(name, l->v[i].name))
            return true;
    return text_is(name, IMAGE_DEFAULT);
}

static int
image_list_add(struct image_list *l, struct text name, OWN char *path)
{
    char *copy = strndup(name.p, name.len);

    if (!copy || !path || !VEC_ROOM(l->v, l->n)) {
        free(copy);
        free(path);
        return -ENOMEM;
    }
    l->v[l->n++] = (struct image_entry){copy, path};
    return 0;
}

int
image_list_parse(struct image_list *l, const char *text)
{
    int r = 0;

    while (r == 0 && *text) {
        size_t n = strcspn(text, ",");
        size_t name_len = strcspn(text, "=,");
        const struct text name = {text, name_len};
        const char *path = text + name_len + 1;
        if (name_len + 1 >= n || *path != '/' || !text_is_name(name) ||
            image_list_has(l, name))
            return -EINVAL;
        r = image_list_add(l, name, strndup(path, n - name_len - 1));
        text += n + (text[n] == ',');
    }
    return r;
}

int
image_list_scan(struct image_list *l, const char *dir)
{
    static const char ending[] = ".tar";
    DIR *d = opendir(dir);
    const struct dirent *e;
    int r = 0;

    while (d && r == 0 && (e = readdir(d))) {
        struct text name = {e->d_name, strlen(e->d_name)};
        char *path = NULL;
        if (name.len < sizeof ending ||
            strcmp(name.p + name.len - (sizeof ending - 1), ending) != 0)
            continue;
        name.len -= sizeof ending - 1;
        if (!text_is_name(name) || image_list_has(l, name))
            continue;
        if (asprintf(&path, "%s/%s", dir, e->d_name) < 0)
            path = NULL;
        r = image_list_add(l, name, path);
    }
    if (d)
        closedir(d);
    return r;
}

void
image_list_fini(struct image_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->v[i].name);
        free(l->v[i].path);
    }
    free(l->v);
    *l = (struct image_list){0};
}
