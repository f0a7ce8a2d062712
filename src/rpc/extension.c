/* Commands of the client: extension.invoke. */
#include "rpc/extension.h"

#include "base/os_time.h"
#include "rpc/callback.h"
#include "rpc/report.h"
#include "rpc/server_impl.h"
#include "rpc/values.h"

#include <stdlib.h>
#include <string.h>

/* So much before the run's time is over, or a tenth of it if that is less, the
 * command has failed: the rest is the shell's, to act on it. */
#define MARGIN_NS (1000 * NS_PER_MS)

static int64_t
extension_deadline_of(const struct sandbox_config *c,
                      const struct wsand_call_info *info)
{
    uint64_t ms = info->timeout_ms ? info->timeout_ms : c->timeout_ms;
    int64_t left = (int64_t)ms * NS_PER_MS;
    int64_t margin = left / 10 < MARGIN_NS ? left / 10 : MARGIN_NS;

    return time_mono_ns() + left - margin;
}

/* --- the request */

static void
put_args(struct buf *b, const char *const *argv)
{
    put_name(b, "args");
    buf_add(b, "[", 1);
    for (size_t i = 1; argv[0] && argv[i]; i++) {
        if (i > 1)
            buf_add(b, ",", 1);
        put_text(b, argv[i]);
    }
    buf_add(b, "]", 1);
}

static void
put_call(struct buf *b, const struct wsand_call_info *info)
{
    buf_add(b, "{", 1);
    put_name(b, "name");
    put_text(b, info->name);
    put_args(b, info->argv);
    put_name(b, "stdin");
    put_string(b, info->input, info->input_len);
    if (!text_is_utf8(info->input, info->input_len)) {
        put_name(b, "stdinBase64");
        put_base64(b, info->input, info->input_len);
    }
    put_name(b, "env");
    put_env(b, info->envp);
    put_name(b, "cwd");
    put_text(b, info->cwd);
    buf_add(b, "}", 1);
}

/* --- the answer */

static void
fail_call(struct wsand_call *call, const char *reason)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, wsand_call_info(call)->name);
    buf_puts(&b, ": ");
    buf_puts(&b, reason);
    buf_puts(&b, "\n");
    wsand_call_reply(call, 1, NULL, 0, b.p, b.error ? 0 : b.len);
    buf_fini(&b);
}

static struct text
text_member(const struct json *result, const char *name)
{
    const struct json *v = json_get(result, name);

    return json_is(v, JSON_STRING) ? json_text(v) : (struct text){"", 0};
}

static void
on_reply(void *arg, const struct json *result, const char *error)
{
    struct wsand_call *call = arg;

    if (!result) {
        fail_call(call, error);
        return;
    }
    struct text out = text_member(result, "stdout");
    struct text err = text_member(result, "stderr");
    int64_t status = 0;
    (void)json_whole(json_get(result, "exitCode"), &status);
    wsand_call_reply(call, (int)(status & 255), out.p, out.len, err.p, err.len);
}

void
extension_invoke(void *arg, struct wsand_call *call)
{
    const struct extension *e = arg;
    const struct wsand_call_info *info = wsand_call_info(call);
    struct buf b;

    buf_init(&b, SIZE_MAX);
    put_call(&b, info);
    callback_send(e->config->srv, "extension.invoke", &b,
                  extension_deadline_of(e->config, info), on_reply, call);
    buf_fini(&b);
}
