/* The texts by which the kernel describes cgroups: mountinfo, /proc/self/cgroup
 * and files with counters. */
#include "supervisor/jail/cgroup_text.h"

#include <stdlib.h>
#include <string.h>

/* A piece of a text. */
struct span {
    const char *p;
    size_t n;
};

/* Removes the text before the next divider from `rest` and returns it. */
static struct span
cgroup_text_cut(struct span *rest, const char *dividers)
{
    struct span word = {rest->p, 0};

    while (word.n < rest->n && !strchr(dividers, word.p[word.n]))
        word.n++;
    size_t used = word.n < rest->n ? word.n + 1 : word.n;
    rest->p += used;
    rest->n -= used;
    return word;
}

static bool
span_is(struct span s, const char *text)
{
    return strlen(text) == s.n && !memcmp(s.p, text, s.n);
}

static bool
span_has_word(struct span list, const char *dividers, const char *word)
{
    while (list.n)
        if (span_is(cgroup_text_cut(&list, dividers), word))
            return true;
    return false;
}

bool
cgroup_text_has_word(const char *list, const char *dividers, const char *word)
{
    return span_has_word((struct span){list, strlen(list)}, dividers, word);
}

bool
cgroup_text_counter(const char *text, const char *key, uint64_t *ret)
{
    struct span rest = {text, strlen(text)};

    while (rest.n) {
        struct span line = cgroup_text_cut(&rest, "\n");
        if (!span_is(cgroup_text_cut(&line, " "), key) || !line.n ||
            *line.p < '0' || *line.p > '9')
            continue;
        *ret = strtoull(line.p, NULL, 10);
        return true;
    }
    return false;
}

static bool
cgroup_text_is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Decodes \ooo, by which mountinfo writes spaces, tabs, newlines and
 * backslashes. Returns false if the result is too long. */
static bool
cgroup_text_unescape(struct span s, char *to, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        const char *c = s.p + i;
        if (n + 1 >= size)
            return false;
        if (*c == '\\' && s.n - i > 3 && cgroup_text_is_octal(c[1]) &&
            cgroup_text_is_octal(c[2]) && cgroup_text_is_octal(c[3])) {
            to[n++] =
                (char)((c[1] - '0') << 6 | (c[2] - '0') << 3 | (c[3] - '0'));
            i += 3;
        } else {
            to[n++] = *c;
        }
    }
    to[n] = 0;
    return true;
}

/* Parses a line of mountinfo: 36 35 98:0 /root /point options [optional]... -
 * type source superoptions. The number of optional fields varies, so the dash
 * is searched. */
static bool
cgroup_text_parse_mount(struct span line, const char *controller,
                        struct cgroup_mount *ret)
{
    for (int i = 0; i < 3; i++)
        (void)cgroup_text_cut(&line, " ");
    struct span root = cgroup_text_cut(&line, " ");
    struct span point = cgroup_text_cut(&line, " ");
    while (line.n && !span_is(cgroup_text_cut(&line, " "), "-"))
        ;
    struct span type = cgroup_text_cut(&line, " ");
    (void)cgroup_text_cut(&line, " ");

    ret->version = span_is(type, "cgroup2") ? 2 : 1;
    if (controller
            ? !span_is(type, "cgroup") || !span_has_word(line, ",", controller)
            : ret->version != 2)
        return false;
    return cgroup_text_unescape(root, ret->root, sizeof ret->root) &&
           cgroup_text_unescape(point, ret->point, sizeof ret->point);
}

bool
cgroup_text_find_mount(const char *mountinfo, const char *controller,
                       struct cgroup_mount *ret)
{
    struct span rest = {mountinfo, strlen(mountinfo)};

    while (rest.n)
        if (cgroup_text_parse_mount(cgroup_text_cut(&rest, "\n"), controller,
                                    ret))
            return true;
    return false;
}

/* Lines are "ID:CONTROLLERS:PATH". The unified hierarchy has ID 0 and no
 * controllers. */
bool
cgroup_text_find_group(const char *text, const char *controller, char *ret,
                       size_t size)
{
    struct span rest = {text, strlen(text)};

    while (rest.n) {
        struct span line = cgroup_text_cut(&rest, "\n");
        bool unified = span_is(cgroup_text_cut(&line, ":"), "0");
        struct span controllers = cgroup_text_cut(&line, ":");
        if (controller ? !span_has_word(controllers, ",", controller)
                       : !unified || controllers.n)
            continue;
        if (!line.n || line.n >= size)
            return false;
        memcpy(ret, line.p, line.n);
        ret[line.n] = 0;
        return true;
    }
    return false;
}
