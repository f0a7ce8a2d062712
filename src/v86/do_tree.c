/* files.*, but for contents: the tree of the guest's files. */
#include "v86/image/agent.h"
#include "v86/job.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { NEW_FOLDER_MODE = 0755, LIST_BYTES_MAX = 64 << 20 };

static const char *
tree_type_name(uint32_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "file";
    case S_IFDIR:
        return "dir";
    case S_IFLNK:
        return "symlink";
    default:
        return "other";
    }
}

static void
tree_put_entry(struct buf *b, const struct agent_stat *st, struct text name,
               bool with_details)
{
    buf_add(b, "{", 1);
    put_name(b, "name");
    put_string(b, name.p, name.len);
    put_name(b, "type");
    put_text(b, tree_type_name(st->mode));
    put_number(b, "size", st->size);
    if (with_details) {
        put_number(b, "mode", st->mode & 07777);
        put_name(b, "mtimeMs");
        buf_printf(b, "%lld", (long long)st->mtime_ms);
    }
    buf_add(b, "}", 1);
}

/* Sends a message with a flag and one or two paths. The second one follows the
 * NUL of the first. */
static void
tree_send(struct call *q, uint32_t type, uint32_t flag, const char *path,
          const char *second)
{
    struct v86_job *j = v86_job_of(q);
    struct buf b;

    j->on_death = v86_job_on_death;
    buf_init(&b, SIZE_MAX);
    buf_add(&b, &flag, sizeof flag);
    buf_puts(&b, path);
    if (second) {
        buf_add(&b, "", 1);
        buf_puts(&b, second);
    }
    v86_sandbox_send(v86_job_of(q)->sb, type, NULL, 0, b.p, b.len);
    buf_fini(&b);
}

/* --- changes */

static void
tree_on_result(struct v86_job *j, uint32_t type, const uint8_t *p, uint32_t len)
{
    struct call *q = &j->call;

    if (type != AGENT_RESULT)
        return;

    int error = v86_result(p, len);
    const char *path = param_text(q, "path");
    if (error)
        v86_answer_errno(q, error, path ? path : param_text(q, "from"));
    else
        answer_ok(q);
}

void
v86_do_files_mkdir(struct call *q)
{
    bool is_recursive = param_bool(q, "recursive", false);

    v86_job_of(q)->on_message = tree_on_result;
    tree_send(q, AGENT_MKDIR,
              v86_mode(q, NEW_FOLDER_MODE) | (is_recursive ? AGENT_PARENTS : 0),
              param_text(q, "path"), NULL);
}

void
v86_do_files_rm(struct call *q)
{
    v86_job_of(q)->on_message = tree_on_result;
    tree_send(q, AGENT_REMOVE, param_bool(q, "recursive", false),
              param_text(q, "path"), NULL);
}

void
v86_do_files_rename(struct call *q)
{
    v86_job_of(q)->on_message = tree_on_result;
    tree_send(q, AGENT_RENAME, 0, param_text(q, "from"), param_text(q, "to"));
}

void
v86_do_files_chmod(struct call *q)
{
    v86_job_of(q)->on_message = tree_on_result;
    tree_send(q, AGENT_CHMOD, v86_mode(q, 0), param_text(q, "path"), NULL);
}

void
v86_do_files_symlink(struct call *q)
{
    v86_job_of(q)->on_message = tree_on_result;
    tree_send(q, AGENT_SYMLINK, 0, param_text(q, "target"),
              param_text(q, "path"));
}

/* --- attributes */

/* Collects the entries as JSON, because each message is one. */
static void
tree_take_entry(struct v86_job *j, const uint8_t *p, uint32_t len)
{
    struct agent_stat st;
    struct text name = {(const char *)p + sizeof st, len - sizeof st};

    if (len < sizeof st)
        return;
    memcpy(&st, p, sizeof st);
    if (j->out.len)
        buf_add(&j->out, ",", 1);
    tree_put_entry(&j->out, &st, name, param_bool(&j->call, "details", false));
}

static void
tree_on_list(struct v86_job *j, uint32_t type, const uint8_t *p, uint32_t len)
{
    struct call *q = &j->call;

    if (type == AGENT_CONTENT)
        tree_take_entry(j, p, len);
    if (type != AGENT_RESULT)
        return;

    int error = v86_result(p, len);
    if (error == 0 && j->out.error)
        error = -j->out.error;
    if (error) {
        v86_answer_errno(q, error, param_text(q, "path"));
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"entries\":[");
    buf_add(b, j->out.p, j->out.len);
    buf_puts(b, "]}");
    answer_end(q);
}

void
v86_do_files_list(struct call *q)
{
    struct v86_job *j = v86_job_of(q);

    buf_init(&j->out, LIST_BYTES_MAX);
    j->on_message = tree_on_list;
    tree_send(q, AGENT_LIST, 0, param_text(q, "path"), NULL);
}

/* The last name of a path; slashes at the end do not count. */
static struct text
tree_last_name(const char *path)
{
    size_t end = strlen(path), start;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/';)
        start--;
    return (struct text){path + start, end - start};
}

static void
tree_on_stat(struct v86_job *j, uint32_t type, const uint8_t *p, uint32_t len)
{
    struct call *q = &j->call;
    struct agent_stat st;

    if (type == AGENT_CONTENT)
        buf_add(&j->out, p, len);
    if (type != AGENT_RESULT)
        return;

    int error = v86_result(p, len);
    if (error == 0 && j->out.len != sizeof st)
        error = EIO;
    if (error) {
        v86_answer_errno(q, error, param_text(q, "path"));
        return;
    }
    memcpy(&st, j->out.p, sizeof st);
    tree_put_entry(answer_begin(q), &st, tree_last_name(param_text(q, "path")),
                   true);
    answer_end(q);
}

void
v86_do_files_stat(struct call *q)
{
    v86_job_of(q)->on_message = tree_on_stat;
    tree_send(q, AGENT_STAT, param_bool(q, "follow", false),
              param_text(q, "path"), NULL);
}
