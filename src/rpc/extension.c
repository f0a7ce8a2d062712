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

/* The shell needs time to report the failure before the run itself is ended. */
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
extension_put_args(struct buf *b, const char *const *argv)
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

/* Input that is not UTF-8 is sent in two forms: as text with replacements for
 * simple clients, and in base64. */
static void
extension_put_call(struct buf *b, const struct wsand_call_info *info)
{
    buf_add(b, "{", 1);
    put_name(b, "name");
    put_text(b, info->name);
    extension_put_args(b, info->argv);
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

/* The text looks like that of a native command: its name, then the reason. */
static void
extension_fail(struct wsand_call *call, const char *reason)
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
extension_text(const struct json *result, const char *name)
{
    const struct json *v = json_get(result, name);

    return json_is(v, JSON_STRING) ? json_text(v) : (struct text){"", 0};
}

/* Only the low byte of the status counts, as in a shell. */
static void
extension_replied(void *arg, const struct json *result, const char *error)
{
    struct wsand_call *call = arg;

    if (!result) {
        extension_fail(call, error);
        return;
    }
    struct text out = extension_text(result, "stdout");
    struct text err = extension_text(result, "stderr");
    int64_t status = 0;
    (void)json_whole(json_get(result, "exitCode"), &status);
    wsand_call_reply(call, (int)(status & 255), out.p, out.len, err.p, err.len);
}

/* The library has stopped the process of the command. wsand_call_reply lets it
 * continue, on whichever thread the answer arrives. */
void
extension_invoke(void *arg, struct wsand_call *call)
{
    const struct extension *e = arg;
    const struct wsand_call_info *info = wsand_call_info(call);
    struct buf b;

    buf_init(&b, SIZE_MAX);
    extension_put_call(&b, info);
    callback_send(e->config->srv, "extension.invoke", &b,
                  extension_deadline_of(e->config, info), extension_replied,
                  call);
    buf_fini(&b);
}
