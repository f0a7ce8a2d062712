#include "net/param.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM                                                                   \
    "network: must be \"off\", \"public\", or an object with allow, deny and " \
    "limits"

void
network_param_fini(struct network_param *p)
{
    free(p->rules);
    free(p->text);
    p->rules = NULL;
    p->text = NULL;
}

/* Sets `why`, and returns the error as a negative errno. */
static int __attribute__((format(printf, 3, 4)))
network_param_fail(struct network_param *p, int error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(p->why, sizeof p->why, format, args);
    va_end(args);
    return -error;
}

/* An absent list is empty. */
static const struct json *
network_list(const struct json *v)
{
    static const struct json empty = {.type = JSON_ARRAY, .size = 1};

    return v ? v : &empty;
}

static bool
network_is_list(const struct json *given)
{
    const struct json *v = network_list(given);

    if (!json_is(v, JSON_ARRAY))
        return false;
    JSON_EACH(element, v)
        if (!json_is(element, JSON_STRING) ||
            memchr(json_text(element).p, 0, json_text(element).len))
            return false;
    return true;
}

/* Returns the bytes of the rules in a list, each with a NUL and a `!`. */
static size_t
network_list_bytes(const struct json *list)
{
    size_t n = 0;

    JSON_EACH(element, list)
        n += json_text(element).len + 2;
    return n;
}

/* Puts the rules of both lists into the parameter, denied hosts with a `!`. */
static int
network_put_rules(const struct json *allowed, const struct json *denied,
                  struct network_param *ret)
{
    const struct json *allow = network_list(allowed),
                      *deny = network_list(denied);
    size_t n = 0, bytes = network_list_bytes(deny);

    ret->rules =
        calloc(json_count(allow) + json_count(deny) + 1, sizeof *ret->rules);
    ret->text = malloc(bytes + 1);
    if (!ret->rules || !ret->text)
        return -ENOMEM;
    char *at = ret->text;
    JSON_EACH(element, allow)
        ret->rules[n++] = json_text(element).p;
    JSON_EACH(element, deny) {
        struct text t = json_text(element);
        ret->rules[n++] = at;
        *at++ = '!';
        memcpy(at, t.p, t.len);
        at += t.len;
        *at++ = 0;
    }
    return 0;
}

int
network_param_add(const struct json *allow, const struct json *deny,
                  struct network_param *ret)
{
    if (network_put_rules(allow, deny, ret) == 0)
        return 0;
    network_param_fini(ret);
    return network_param_fail(ret, ENOMEM, "out of memory");
}

/* Reads one limit of the object. Returns 1 if it is there, or 0. */
static int
network_read_limit(const struct json *limits, const char *name, int64_t max,
                   uint64_t *to, struct network_param *ret)
{
    const struct json *v = json_get(limits, name);
    int64_t n;

    if (!v)
        return 0;
    if (!json_whole(v, &n) || n < 1 || n > max)
        return network_param_fail(
            ret, EINVAL, "network: limits.%s must be a positive number", name);
    *to = (uint64_t)n;
    return 1;
}

static int
network_read_limits(const struct json *limits, struct network_param *ret)
{
    uint64_t counts[3] = {0};
    const struct {
        const char *name;
        int64_t max;
        uint64_t *to;
    } known[] = {{"connections", UINT32_MAX, &counts[0]},
                 {"connects", UINT32_MAX, &counts[1]},
                 {"lookups", UINT32_MAX, &counts[2]},
                 {"bytes", INT64_MAX, &ret->bytes},
                 {"rate", INT64_MAX, &ret->rate}};
    size_t found = 0;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int r = network_read_limit(limits, known[i].name, known[i].max,
                                   known[i].to, ret);
        if (r < 0)
            return r;
        found += (size_t)r;
    }
    ret->connections = (uint32_t)counts[0];
    ret->connects = (uint32_t)counts[1];
    ret->lookups = (uint32_t)counts[2];
    return found == json_count(limits)
               ? 0
               : network_param_fail(ret, EINVAL,
                                    "network: limits has connections, "
                                    "connects, lookups, bytes and rate only");
}

static int
network_read_object(const struct json *v, struct network_param *ret)
{
    const struct json *allow = json_get(v, "allow"),
                      *deny = json_get(v, "deny"),
                      *limits = json_get(v, "limits");
    size_t known = !!allow + !!deny + !!limits;

    if (json_count(v) != known || !network_is_list(allow) ||
        !network_is_list(deny) || (limits && !json_is(limits, JSON_OBJECT)))
        return network_param_fail(ret, EINVAL, FORM);
    int r = network_read_limits(limits, ret);
    return r < 0 ? r : network_param_add(allow, deny, ret);
}

int
network_param_read(const struct json *v, struct network_param *ret)
{
    *ret = (struct network_param){0};
    if (!v || json_is(v, JSON_FALSE) || text_is(json_text(v), "off"))
        return 0;
    if (text_is(json_text(v), "public")) {
        ret->rules = calloc(2, sizeof *ret->rules);
        if (!ret->rules)
            return network_param_fail(ret, ENOMEM, "out of memory");
        ret->rules[0] = "public";
        return 0;
    }
    return json_is(v, JSON_OBJECT) ? network_read_object(v, ret)
                                   : network_param_fail(ret, EINVAL, FORM);
}

int
network_param_parse(struct network_param *p, struct policy *ret)
{
    const char *reason = NULL;
    int r = 0;

    for (const char **rule = p->rules; rule && *rule && r == 0; rule++) {
        r = policy_add(ret, *rule, strlen(*rule), &reason);
        if (r == -ENOMEM)
            (void)network_param_fail(p, ENOMEM, "out of memory");
        else if (r < 0)
            r = network_param_fail(p, EINVAL, "network: the rule '%s' %s",
                                   *rule, reason);
    }
    return r;
}
