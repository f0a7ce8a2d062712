/* JSON text that is passed on unchanged: it is checked, and its members are
 * found, without a tree and without memory.
 *
 * A scan keeps only a position. Each step makes a new reader at that position;
 * readers are cheap, because they own nothing. */
#include "base/json_impl.h"

static struct json_reader
json_reader_of(const char *at, const char *end)
{
    return (struct json_reader){
        .begin = at, .at = at, .end = end, .level_max = JSON_SCAN_LEVELS_MAX};
}

bool
json_is_valid(struct text t)
{
    struct json_reader r = json_reader_of(t.p, t.p + t.len);

    if (!json_take_value(&r))
        return false;
    json_skip_space(&r);
    return r.at == r.end;
}

bool
json_scan_begin(struct text t, struct json_scan *ret)
{
    struct json_reader r = json_reader_of(t.p, t.p + t.len);

    json_skip_space(&r);
    if (!json_take_char(&r, '{'))
        return false;
    json_skip_space(&r);
    *ret = (struct json_scan){r.at, r.end, r.at < r.end && *r.at != '}'};
    return true;
}

bool
json_scan_next(struct json_scan *s, struct json_member *ret)
{
    struct json_reader r = json_reader_of(s->at, s->end);

    if (!s->has_more || !json_take_char(&r, '"') ||
        !json_take_string(&r, &ret->name))
        return false;
    json_skip_space(&r);
    if (!json_take_char(&r, ':'))
        return false;
    json_skip_space(&r);
    const char *value = r.at;
    if (!json_take_value(&r))
        return false;
    ret->value = (struct text){value, (size_t)(r.at - value)};
    json_skip_space(&r);
    s->has_more = json_take_char(&r, ',');
    json_skip_space(&r);
    s->at = r.at;
    return true;
}

bool
json_scan_is_over(const struct json_scan *s)
{
    struct json_reader r = json_reader_of(s->at, s->end);

    if (s->has_more || !json_take_char(&r, '}'))
        return false;
    json_skip_space(&r);
    return r.at == r.end;
}
