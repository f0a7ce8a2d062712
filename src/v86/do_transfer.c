/* persistence.*: the changes of a machine's disk as a text. Processes and RAM
 * are no part of it: a machine that imports boots from that disk. */
#include "base/base64.h"
#include "v86/job.h"
#include "v86/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EXPORT_BYTES_MAX = 160 << 20 };

/* --- export */

static void
export_on_block(struct v86_job *j, const struct zygote_block *b)
{
    v86_state_put_block(&j->out, b->number, b->bytes);
}

static void
export_on_done(struct v86_job *j, int error)
{
    if (error == 0) {
        v86_state_put_end(&j->out, 1);
        error = j->out.error ? EFBIG : 0;
    }
    if (error) {
        v86_answer_errno(&j->call, error, "the changes of the disk");
        return;
    }
    answer_data(&j->call, j->out.p, j->out.len);
}

void
v86_do_export(struct call *q)
{
    static const struct v86_copy copy = {.what = ZYGOTE_ALL_BLOCKS,
                                         .on_block = export_on_block,
                                         .on_done = export_on_done};
    struct v86_job *j = v86_job_of(q);

    buf_init(&j->out, EXPORT_BYTES_MAX);
    v86_state_put_head(&j->out, v86_server_of(q)->disk_bytes);
    v86_copy_begin(j, &copy);
}

/* --- import */

/* Applies an export, which must be one whole commit. */
static int
import_apply(struct disk *d, const uint8_t *p, size_t len)
{
    struct v86_frame f = {0};

    while (len && !f.is_end) {
        int64_t n = v86_state_next(p, len, &f);
        int r = n > 0 ? v86_state_apply(d, &f) : -EINVAL;

        if (r < 0)
            return r;
        p += n;
        len -= (size_t)n;
    }
    return f.is_end && !len ? 0 : -EINVAL;
}

/* Boots a machine of that disk, which replaces the current one. */
static int
import_boot(struct v86_sandbox *sb, struct disk *d,
            char error[PUMP_ERROR_BYTES])
{
    struct zygote z;
    int r = zygote_start(&z, d, &sb->server->options, error);

    if (r < 0)
        return r;
    r = v86_sandbox_reset(sb, z.control);
    zygote_stop(&z);
    return r;
}

void
v86_do_import(struct call *q)
{
    struct v86_job *j = v86_job_of(q);
    struct v86_server *s = v86_server_of(q);
    struct text data = v86_decode(j, "data");
    char error[PUMP_ERROR_BYTES] = "not an export of this disk image";
    struct disk *d = NULL;

    if (!data.p)
        return;
    int r = disk_new_like(s->disk, s->options.overlay_bytes, &d);
    if (r == 0)
        r = import_apply(d, (const uint8_t *)data.p, data.len);
    if (r == 0)
        r = import_boot(j->sb, d, error);
    disk_free(d);
    if (r == -EINVAL)
        answer_error(q, SANDBOX_ERROR, "EINVAL: %s", error);
    else if (r < 0)
        v86_answer_errno(q, -r, "the imported disk");
    else
        answer_ok(q);
}
