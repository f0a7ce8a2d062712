/* Parameters that method_check has accepted, as values of the library. */
#include "rpc/values.h"

#include "base/base64.h"
#include "rpc/dispatch.h"
#include "rpc/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Permissions are octal text or a number; both were checked. */
uint32_t
param_mode(const struct call *q)
{
    const struct json *v = param(q, "mode");
    uint32_t mode = 0;

    if (!json_is(v, JSON_STRING))
        return (uint32_t)param_int(q, "mode", 0);
    (void)mode_parse(json_text(v).p, &mode);
    return mode;
}

uint64_t
param_sandbox_id(const struct call *q)
{
    return dispatch_sandbox_id(param_string(q, "sandboxId"));
}

/* --- environments */

/* The sum of all strings, so that one allocation holds them. */
static size_t
env_bytes(const struct json *object, size_t *ret_n)
{
    size_t bytes = 0;

    *ret_n = json_count(object);
    JSON_EACH_KEY(key, object)
        bytes += key->text.len + json_value(key)->text.len + 2;
    return bytes;
}

/* The vector and its strings are one allocation, with the strings behind the
 * vector. */
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
param_env(const struct call *q, const char *name, char ***ret)
{
    const struct json *v = param(q, name);

    *ret = NULL;
    return v ? env_from_json(v, ret) : 0;
}

/* A variable without a sign of equality has an empty value. */
void
put_env(struct buf *b, const char *const *env)
{
    buf_add(b, "{", 1);
    for (; env && *env; env++) {
        const char *sign = strchrnul(*env, '=');
        if (b->len && b->p[b->len - 1] != '{')
            buf_add(b, ",", 1);
        put_string(b, *env, (size_t)(sign - *env));
        buf_add(b, ":", 1);
        put_text(b, *sign ? sign + 1 : "");
    }
    buf_add(b, "}", 1);
}

/* --- base64 */

/* One byte more is allocated, so that empty data is not NULL. */
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

/* The vector and the contents are one allocation. Decoded bytes are at most
 * three quarters of their base64. */
int
files_from_json(const struct json *object, struct wsand_file **ret,
                struct wsand_error *err)
{
    size_t n = json_count(object), i = 0, bytes = 0;

    JSON_EACH_KEY(key, object)
        bytes += BASE64_BYTES(json_value(key)->text.len);
    struct wsand_file *v = malloc((n + 1) * sizeof *v + bytes);
    if (!v)
        return report_fail(err, ENOMEM, "out of memory");
    char *to = (char *)(v + n + 1);
    JSON_EACH_KEY(key, object) {
        struct text t = json_value(key)->text;
        v[i] = (struct wsand_file){.path = key->text.p, .data = to};
        if (base64_decode(t.p, t.len, to, &v[i].len) < 0) {
            free(v);
            return report_fail(err, EINVAL, "not base64: %s", key->text.p);
        }
        to += v[i++].len;
    }
    *ret = v;
    return 0;
}
