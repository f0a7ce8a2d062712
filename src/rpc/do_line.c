/* The line protocol, but for shell, which is do_run. */
#include "rpc/job.h"
#include "rpc/methods.h"
#include "rpc/values.h"

#include <stdlib.h>

enum { NEW_FILE_MODE = 0644 };

static void
line_put_success(struct buf *b)
{
    put_bool(b, "success", true);
    put_name(b, "error");
    buf_puts(b, "null");
}

/* A mode of 0 means the default in the library, so it is set afterwards. */
void
do_line_write(struct call *q)
{
    struct text content = param_string(q, "content");
    struct wsand_error err = {0};
    char *owned = NULL;

    if (!call_has_absolute_path(q))
        return;
    if (param_is_base64(q)) {
        if (decode_base64(content, &owned, &content.len) < 0) {
            answer_error(q, INVALID_PARAMS, "content is not base64");
            return;
        }
        content.p = owned;
    }
    struct wsand_write w = {.size = sizeof w,
                            .path = param_text(q, "path"),
                            .data = content.p,
                            .len = content.len,
                            .mode = param(q, "mode") ? param_mode(q)
                                                     : NEW_FILE_MODE};
    int r = wsand_file_write(sandbox_of(q), &w, &err);
    if (r == 0 && !w.mode)
        r = wsand_file_chmod(sandbox_of(q), w.path, 0, &err);
    free(owned);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    line_put_success(answer_begin(q));
    answer_end(q);
}

/* Text must come back unchanged, so bytes that are not UTF-8 are an error
 * here, not replaced as in output. */
static void
line_answer_content(OWN struct call *q, const char *data, size_t len)
{
    bool is_base64 = param_is_base64(q);

    if (!is_base64 && !text_is_utf8(data, len)) {
        answer_error(q, SANDBOX_ERROR,
                     "The file is not UTF-8 text: read it with "
                     "\"encoding\":\"base64\"");
        return;
    }
    struct buf *b = answer_begin(q);
    put_name(b, "content");
    if (is_base64)
        put_base64(b, data, len);
    else
        put_string(b, data, len);
    line_put_success(b);
    answer_end(q);
}

/* Files of any size are read as a whole, because the protocol has no offset. */
void
do_line_read(struct call *q)
{
    struct wsand_error err = {0};
    void *data;
    size_t len;

    if (!call_has_absolute_path(q))
        return;
    int r = wsand_file_read(sandbox_of(q), param_text(q, "path"), 0, WSAND_ALL,
                            &data, &len, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    line_answer_content(q, data, len);
    free(data);
}

/* The answer has no member error, as the specification shows it. */
void
do_line_reset(struct call *q)
{
    struct wsand_error err = {0};

    int r = wsand_reset(sandbox_of(q), &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    put_bool(answer_begin(q), "success", true);
    answer_end(q);
}
