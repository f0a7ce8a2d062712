/* files.* and mount. */
#include "base/os_time.h"
#include "rpc/job.h"
#include "rpc/methods.h"
#include "rpc/values.h"

#include <stdlib.h>
#include <string.h>

/* Devices, FIFOs and sockets are `other`. */
static const char *
files_type_name(enum wsand_type type)
{
    static const char *const names[] = {[WSAND_FILE] = "file",
                                        [WSAND_DIR] = "dir",
                                        [WSAND_SYMLINK] = "symlink",
                                        [WSAND_OTHER] = "other"};

    return names[type];
}

/* Data that is not base64 is an error of the parameters, before anything is
 * changed. */
void
do_files_write(struct call *q)
{
    struct wsand_error err = {0};
    size_t len = 0;
    char *data;

    if (decode_base64(param_string(q, "data"), &data, &len) < 0) {
        answer_error(q, INVALID_PARAMS, "data is not base64");
        return;
    }
    struct wsand_write w = {.size = sizeof w,
                            .path = param_text(q, "path"),
                            .data = data,
                            .len = len,
                            .mode = param_mode(q),
                            .append = param_bool(q, "append", false),
                            .parents = param_bool(q, "parents", false),
                            .has_offset = param(q, "offset"),
                            .offset = (uint64_t)param_int(q, "offset", 0)};
    int r = wsand_file_write(sandbox_of(q), &w, &err);
    free(data);
    answer_status(q, r, &err);
}

/* Without a length, the whole rest of the file is read. */
void
do_files_read(struct call *q)
{
    struct wsand_error err = {0};
    void *data;
    size_t len;
    int64_t length = param_int(q, "length", -1);

    int r = wsand_file_read(sandbox_of(q), param_text(q, "path"),
                            (uint64_t)param_int(q, "offset", 0),
                            length < 0 ? WSAND_ALL : (size_t)length, &data,
                            &len, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"data\":");
    put_base64(b, data, len);
    buf_puts(b, "}");
    free(data);
    answer_end(q);
}

/* Details are optional in lists, which may be long. */
static void
files_put_entry(struct buf *b, struct text name, const struct wsand_stat *st,
                bool with_details)
{
    buf_add(b, "{", 1);
    put_name(b, "name");
    put_string(b, name.p, name.len);
    put_name(b, "type");
    put_text(b, files_type_name(st->type));
    put_number(b, "size", st->bytes);
    if (with_details) {
        put_number(b, "mode", st->mode);
        put_name(b, "mtimeMs");
        buf_printf(b, "%lld", (long long)(st->mtime_ns / NS_PER_MS));
    }
    buf_add(b, "}", 1);
}

void
do_files_list(struct call *q)
{
    bool with_details = param_bool(q, "details", false);
    struct wsand_error err = {0};
    struct wsand_list list;

    int r = wsand_file_list(sandbox_of(q), param_text(q, "path"), &list, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"entries\":[");
    for (size_t i = 0; i < list.n; i++) {
        const struct wsand_entry *e = &list.v[i];
        if (i)
            buf_add(b, ",", 1);
        files_put_entry(b, (struct text){e->name, strlen(e->name)}, &e->stat,
                        with_details);
    }
    buf_puts(b, "]}");
    wsand_list_free(&list);
    answer_end(q);
}

/* The last name in a path; "/" for the root. */
static struct text
files_last_name(const char *path)
{
    size_t end = strlen(path), begin;

    while (end > 1 && path[end - 1] == '/')
        end--;
    begin = end;
    while (begin && path[begin - 1] != '/')
        begin--;
    return begin == end ? (struct text){"/", 1}
                        : (struct text){path + begin, end - begin};
}

/* The name is that of the path, also if the path ends with a slash. */
void
do_files_stat(struct call *q)
{
    struct wsand_error err = {0};
    const char *path = param_text(q, "path");
    struct wsand_stat st;

    int r = wsand_file_stat(sandbox_of(q), path, param_bool(q, "follow", false),
                            &st, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    files_put_entry(b, files_last_name(path), &st, true);
    answer_end(q);
}

void
do_files_mkdir(struct call *q)
{
    struct wsand_error err = {0};

    int r =
        wsand_file_mkdir(sandbox_of(q), param_text(q, "path"), param_mode(q),
                         param_bool(q, "recursive", false), &err);
    answer_status(q, r, &err);
}

void
do_files_rm(struct call *q)
{
    struct wsand_error err = {0};

    int r = wsand_file_rm(sandbox_of(q), param_text(q, "path"),
                          param_bool(q, "recursive", false), &err);
    answer_status(q, r, &err);
}

void
do_files_rename(struct call *q)
{
    struct wsand_error err = {0};

    int r = wsand_file_rename(sandbox_of(q), param_text(q, "from"),
                              param_text(q, "to"), &err);
    answer_status(q, r, &err);
}

void
do_files_chmod(struct call *q)
{
    struct wsand_error err = {0};

    int r = wsand_file_chmod(sandbox_of(q), param_text(q, "path"),
                             param_mode(q), &err);
    answer_status(q, r, &err);
}

void
do_files_symlink(struct call *q)
{
    struct wsand_error err = {0};

    int r = wsand_file_symlink(sandbox_of(q), param_text(q, "target"),
                               param_text(q, "path"), &err);
    answer_status(q, r, &err);
}

/* The files are decoded into one allocation, which the library copies. */
void
do_mount(struct call *q)
{
    struct wsand_error err = {0};
    const struct json *files = param(q, "files");
    struct wsand_file *v = NULL;

    int r = files_from_json(files, &v, &err);
    if (r == 0) {
        struct wsand_mount m = {.guest_path = param_text(q, "path"),
                                .is_writable = param_bool(q, "writable", false),
                                .files = v,
                                .n_files = json_count(files)};
        r = wsand_mount(sandbox_of(q), &m, &err);
    }
    free(v);
    answer_status(q, r, &err);
}
