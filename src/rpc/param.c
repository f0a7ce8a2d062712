/* Reading parameters that method_check has accepted. */
#include "rpc/rpc.h"

#include "base/base64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct json *
param(const struct request *q, const char *name)
{
    const struct json *v = json_get(q->params, name);

    return json_is(v, JSON_NULL) ? NULL : v;
}

const char *
param_text(const struct request *q, const char *name)
{
    const struct json *v = param(q, name);

    return v ? json_text(v).p : NULL;
}

struct text
param_string(const struct request *q, const char *name)
{
    const struct json *v = param(q, name);

    return v ? json_text(v) : (struct text){NULL, 0};
}

int64_t
param_int(const struct request *q, const char *name, int64_t absent)
{
    int64_t n = absent;

    (void)json_whole(param(q, name), &n);
    return n;
}

bool
param_bool(const struct request *q, const char *name)
{
    return json_is(param(q, name), JSON_TRUE);
}

bool
param_is_base64(const struct request *q)
{
    const char *s = param_text(q, "encoding");

    return s && !strcmp(s, "base64");
}

uint32_t
param_mode(const struct request *q)
{
    const struct json *v = param(q, "mode");
    uint32_t mode = 0;

    if (!json_is(v, JSON_STRING))
        return (uint32_t)param_int(q, "mode", 0);
    (void)mode_parse(json_text(v).p, &mode);
    return mode;
}

/* --- environments */

static size_t
env_bytes(const struct json *object, size_t *ret_n)
{
    size_t bytes = 0;

    *ret_n = json_count(object);
    JSON_EACH_KEY(key, object)
        bytes += key->text.len + json_value(key)->text.len + 2;
    return bytes;
}

int
env_from_json(const struct json *object, char ***ret)
{
    size_t n, i = 0;

    size_t bytes = env_bytes(object, &n);
    char **v = malloc((n + 1) * sizeof *v + bytes);
    if (!v)
        return -ENOMEM;
    char *to = (char *)(v + n + 1);
    JSON_EACH_KEY(key, object) {
        v[i++] = to;
        to = stpcpy(to, key->text.p);
        *to++ = '=';
        to = stpcpy(to, json_value(key)->text.p) + 1;
    }
    v[n] = NULL;
    *ret = v;
    return 0;
}

int
param_env(const struct request *q, const char *name, char ***ret)
{
    const struct json *v = param(q, name);

    *ret = NULL;
    return v ? env_from_json(v, ret) : 0;
}

/* --- base64 */

int
decode_base64(struct text t, char **ret, size_t *ret_len)
{
    char *p = malloc(BASE64_BYTES(t.len) + 1);

    if (!p)
        return -ENOMEM;
    int r = base64_decode(t.p, t.len, p, ret_len);
    if (r < 0)
        free(p);
    else
        *ret = p;
    return r;
}
