#include "v86/save.h"

#include "base/hfd.h"
#include "base/os_time.h"
#include "v86/image/agent.h"
#include "v86/job.h"
#include "wire/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { SAVE_FLUSH_BYTES = 1 << 20, SAVE_SPARE_BYTES = 64 << 20 };

static const int64_t SAVE_GRACE_NS = 30 * NS_PER_S;

/* --- copies */

static void
copy_finish(struct v86_job *j, int error)
{
    j->deadline_ns = 0;
    j->on_control = NULL;
    j->copy.on_done(j, error);
}

static void
copy_on_thawed(struct v86_job *j, uint32_t type, const uint8_t *p, uint32_t len)
{
    (void)p;
    (void)len;
    if (type == AGENT_RESULT)
        copy_finish(j, 0);
}

static void
copy_on_control(struct v86_job *j)
{
    struct zygote_block *b = &j->sb->server->block;
    int r;

    while ((r = zygote_receive_block(j->sb->machine.control, b)) == 1) {
        if (b->number != ZYGOTE_NO_BLOCK) {
            j->copy.on_block(j, b);
            continue;
        }
        j->on_control = NULL;
        j->on_message = copy_on_thawed;
        v86_sandbox_send(j->sb, AGENT_THAW, NULL, 0, NULL, 0);
        return;
    }
    if (r < 0)
        v86_sandbox_die(j->sb, "the machine's process has ended");
}

/* An agent of an older image cannot freeze. */
static void
copy_on_frozen(struct v86_job *j, uint32_t type, const uint8_t *p, uint32_t len)
{
    if (type != AGENT_RESULT)
        return;

    int error = v86_result(p, len);
    if (error) {
        copy_finish(j, error);
        return;
    }
    j->on_control = copy_on_control;
    (void)zygote_request(j->sb->machine.control, j->copy.what);
}

static void
copy_on_death(struct v86_job *j, const char *why)
{
    (void)why;
    copy_finish(j, EIO);
}

static void
copy_on_timeout(struct v86_job *j)
{
    v86_sandbox_die(j->sb, "the guest's kernel does not answer");
}

void
v86_copy_begin(struct v86_job *j, const struct v86_copy *copy)
{
    j->copy = *copy;
    j->is_copied = true;
    j->on_message = copy_on_frozen;
    j->on_death = copy_on_death;
    j->on_timeout = copy_on_timeout;
    j->deadline_ns = time_mono_ns() + SAVE_GRACE_NS;
    v86_sandbox_send(j->sb, AGENT_FREEZE, NULL, 0, NULL, 0);
}

/* --- keeping */

/* Changes that cannot be kept would break the promise of every answer, so the
 * server ends. */
static void
saver_give_up(const struct v86_saver *s, int error)
{
    text_logf("v86: cannot keep the changes of the disk%s%s: %s",
              s->path ? " in " : "", s->path ? s->path : "", strerror(error));
    _exit(EXIT_FAILURE);
}

static void
saver_flush(struct v86_saver *s)
{
    int r = s->out.error ? s->out.error
                         : hfd_write_all(s->hfd, s->out.p, s->out.len);

    if (r < 0)
        saver_give_up(s, -r);
    s->n_bytes += s->out.len;
    s->out.len = 0;
}

/* Begins a new file, which replaces the old one when its commit is complete. */
static void
saver_begin_file(struct v86_saver *s, uint64_t disk_bytes)
{
    hfd_closep(&s->hfd);
    s->hfd = open(s->new_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (s->hfd < 0 || flock(s->hfd, LOCK_EX | LOCK_NB) < 0)
        saver_give_up(s, errno);
    s->n_bytes = 0;
    v86_state_put_head(&s->out, disk_bytes);
}

static void
saver_end_file(struct v86_saver *s)
{
    if (rename(s->new_path, s->path) < 0)
        saver_give_up(s, errno);
    s->is_all = false;
}

static void
saver_note_block(struct v86_saver *s, const struct zygote_block *b)
{
    uint64_t word = b->number / 64, bit = 1ull << b->number % 64;

    if (word >= s->n_words)
        return;
    if (b->has_bytes)
        s->saved[word] |= bit;
    else
        s->saved[word] &= ~bit;
    s->seen[word] |= bit;
}

static void
saver_on_block(struct v86_job *j, const struct zygote_block *b)
{
    struct v86_saver *s = &v86_server_of(&j->call)->saver;

    v86_state_put_block(&s->out, b->number, b->has_bytes ? b->bytes : NULL);
    saver_note_block(s, b);
    s->n_blocks++;
    if (s->out.len > SAVE_FLUSH_BYTES)
        saver_flush(s);
}

/* The supervisor drops the blocks that a commit of all blocks does not have. */
static void
saver_drop_others(struct v86_saver *s)
{
    for (uint64_t i = 0; i < s->n_words; i++) {
        uint64_t old = s->saved[i] & ~s->seen[i];

        s->saved[i] &= s->seen[i];
        for (; old; old &= old - 1) {
            v86_state_put_block(&s->out,
                                i * 64 + (unsigned)__builtin_ctzll(old), NULL);
            s->n_blocks++;
        }
    }
}

static void
saver_end_session_commit(struct v86_saver *s, struct call *q)
{
    if (s->is_all)
        saver_drop_others(s);
    s->is_all = false;
    if (!s->n_blocks)
        return;
    v86_state_put_end(&s->out, ++s->n_commits);
    saver_flush(s);
    q->answer.len -= strlen("}\n");
    buf_printf(&q->answer, ",\"commit\":%" PRIu64 "}\n", s->n_commits);
}

/* The commits of a file that has grown to several times the size of the overlay
 * are merged. */
static void
saver_end_file_commit(struct v86_saver *s, uint64_t overlay_bytes)
{
    if (!s->n_blocks && !s->is_all)
        return;
    v86_state_put_end(&s->out, ++s->n_commits);
    saver_flush(s);
    if (fdatasync(s->hfd) < 0)
        saver_give_up(s, errno);
    if (s->is_all)
        saver_end_file(s);
    s->is_all = s->n_bytes > 2 * overlay_bytes + SAVE_SPARE_BYTES;
}

/* A machine that has stopped is replaced, and the next commit has the blocks of
 * its successor. */
static void
saver_on_done(struct v86_job *j, int error)
{
    struct v86_server *server = v86_server_of(&j->call);
    struct v86_saver *s = &server->saver;

    if (error == EIO) {
        s->out.len = 0;
        s->is_all = true;
    } else if (error) {
        saver_give_up(s, error);
    } else if (s->is_session) {
        saver_end_session_commit(s, &j->call);
    } else {
        saver_end_file_commit(s, server->options.overlay_bytes);
    }
    answer_send(&j->call);
}

/* Only the root sandbox is kept. */
static bool
saver_concerns(const struct v86_saver *s, const struct v86_job *j)
{
    bool keeps = s->path || (s->is_session && !s->is_held);

    return keeps && j->sb && j->sb->job == j && j->sb->id == 0 &&
           !(j->call.method->flags & READS);
}

/* A session's state begins with its first commit. */
static void
saver_begin_commit(struct v86_saver *s, uint64_t disk_bytes)
{
    s->n_blocks = 0;
    if (s->path && s->is_all)
        saver_begin_file(s, disk_bytes);
    else if (s->is_session && !s->n_commits && !s->was_loaded)
        v86_state_put_head(&s->out, disk_bytes);
    if (s->is_session)
        memset(s->seen, 0, s->n_words * sizeof *s->seen);
}

bool
v86_saver_begin(struct v86_saver *s, struct v86_job *j)
{
    struct v86_copy copy = {.what = s->is_all ? ZYGOTE_ALL_BLOCKS
                                              : ZYGOTE_DIRTY_BLOCKS,
                            .on_block = saver_on_block,
                            .on_done = saver_on_done};

    if (!saver_concerns(s, j))
        return false;
    saver_begin_commit(s, v86_server_of(&j->call)->disk_bytes);
    v86_copy_begin(j, &copy);
    return true;
}

/* --- sessions */

int
v86_saver_begin_session(struct v86_saver *s, int hfd, const struct disk *d)
{
    buf_init(&s->out, SIZE_MAX);
    s->is_session = true;
    s->hfd = hfd;
    s->n_words = (size_t)(disk_blocks(d) + 63) / 64;
    s->saved = calloc(s->n_words, sizeof *s->saved);
    s->seen = calloc(s->n_words, sizeof *s->seen);
    return s->saved && s->seen ? 0 : -ENOMEM;
}

void
v86_saver_note_loaded(struct v86_saver *s, struct disk *d)
{
    const uint8_t *bytes;
    uint64_t block;

    s->was_loaded = true;
    for (uint64_t from = 0; disk_take_dirty(d, from, true, &block, &bytes);
         from = block + 1)
        s->saved[block / 64] |= 1ull << block % 64;
    disk_clean(d);
}

/* --- the file */

/* A commit without its end is removed first. */
static int
saver_load(struct v86_saver *s, struct disk *d)
{
    bool has_any;
    int64_t whole = v86_state_read(NULL, s->hfd, false, &has_any);

    if (whole < 0)
        return (int)whole;
    if (ftruncate(s->hfd, whole) < 0 || lseek(s->hfd, 0, SEEK_SET) < 0)
        return -errno;
    int64_t r = v86_state_read(d, s->hfd, false, &has_any);
    s->n_bytes = (uint64_t)whole;
    s->is_all = !has_any;
    disk_clean(d);
    return r < 0 ? (int)r : 0;
}

/* Returns 0 or -errno. */
static int
saver_open(struct v86_saver *s, struct disk *d)
{
    if (!s->new_path && asprintf(&s->new_path, "%s.new", s->path) < 0)
        return -ENOMEM;
    hfd_closep(&s->hfd);
    s->hfd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->hfd < 0 || flock(s->hfd, LOCK_EX | LOCK_NB) < 0)
        return -errno;
    return saver_load(s, d);
}

int
v86_saver_open(struct v86_saver *s, const char *path, struct disk *d,
               char error[PUMP_ERROR_BYTES])
{
    buf_init(&s->out, SIZE_MAX);
    s->path = path;
    s->hfd = -1;

    int r = saver_open(s, d);
    if (r == 0)
        return 0;
    const char *why = r == -EINVAL   ? "it is damaged, or belongs to another "
                                       "image"
                      : r == -EAGAIN ? "another process uses it"
                      : r == -ENOSPC ? "it has more than --disk-limit"
                                     : strerror(-r);
    (void)snprintf(error, PUMP_ERROR_BYTES, "--disk-overlay %.200s: %s", path,
                   why);
    return r;
}

/* The old zygote has the disk of the server's start. */
int
v86_saver_restart(struct v86_server *server)
{
    struct v86_saver *s = &server->saver;
    struct disk *d = NULL;

    s->out.len = 0;
    int r = disk_new_like(server->disk, server->options.overlay_bytes, &d);
    if (r == 0)
        r = saver_open(s, d);
    if (r == 0)
        return v86_server_boot(server, d);
    text_logf("v86: %s: %s", s->path, strerror(-r));
    disk_free(d);
    return r;
}
