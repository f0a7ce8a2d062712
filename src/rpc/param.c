/* Reading parameters that method_check has accepted. */
#include "rpc/rpc.h"
#include "wire/whole.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const json_t *
param(const struct request *q, const char *name)
{
    const json_t *v = json_object_get(q->params, name);

    return json_is_null(v) ? NULL : v;
}

const char *
param_text(const struct request *q, const char *name)
{
    const json_t *v = param(q, name);

    return v ? message_text(q->msg, v).p : NULL;
}

struct text
param_string(const struct request *q, const char *name)
{
    const json_t *v = param(q, name);

    return v ? message_text(q->msg, v) : (struct text){NULL, 0};
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
    return json_is_true(param(q, name));
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
    const json_t *v = param(q, "mode");
    uint32_t mode = 0;

    if (!json_is_string(v))
        return (uint32_t)param_int(q, "mode", 0);
    (void)mode_parse(json_string_value(v), &mode);
    return mode;
}

/* --- environments */

static size_t
env_bytes(const struct message *msg, const json_t *object, size_t *ret_n)
{
    const char *name;
    json_t *value;
    size_t bytes = 0;

    *ret_n = json_object_size(object);
    json_object_foreach((json_t *)object, name, value) bytes +=
        strlen(name) + message_text(msg, value).len + 2;
    return bytes;
}

int
env_from_json(const struct message *msg, const json_t *object, char ***ret)
{
    const char *name;
    json_t *value;
    size_t n, i = 0;

    size_t bytes = env_bytes(msg, object, &n);
    char **v = malloc((n + 1) * sizeof *v + bytes);
    if (!v)
        return -ENOMEM;
    char *to = (char *)(v + n + 1);
    json_object_foreach((json_t *)object, name, value)
    {
        v[i++] = to;
        to = stpcpy(to, name);
        *to++ = '=';
        to = stpcpy(to, message_text(msg, value).p) + 1;
    }
    v[n] = NULL;
    *ret = v;
    return 0;
}

int
param_env(const struct request *q, const char *name, char ***ret)
{
    const json_t *v = param(q, name);

    *ret = NULL;
    return v ? env_from_json(q->msg, v, ret) : 0;
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
