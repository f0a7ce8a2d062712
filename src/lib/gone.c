/* The processes that a copy of a sandbox does not have. A fork, a snapshot or a
 * resumed session has files and a shell, but no running processes; clients want
 * to know which ones they lost.
 *
 * The list is one block of text that is saved with the state as it is, and is
 * parsed only when a client asks for it. */
#include "lib/gone.h"

#include "base/buf.h"
#include "kernel/kernel.h"
#include "lib/error.h"
#include "lib/process.h"
#include "lib/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMAND_BYTES = 200 };

void
gone_fini(struct gone *l)
{
    free(l->p);
    *l = (struct gone){0};
}

/* The list is information only. Without memory it is omitted, so that the copy
 * of the sandbox does not fail for it. */
void
gone_copy(struct gone *to, const struct gone *from)
{
    gone_fini(to);
    to->p = from->len ? malloc(from->len) : NULL;
    if (!to->p)
        return;
    memcpy(to->p, from->p, from->len);
    to->len = from->len;
}

int
gone_load(struct gone *l, const void *p, size_t len)
{
    const struct gone from = {(char *)p, len};

    if (!len || len > GONE_BYTES_MAX || ((const char *)p)[len - 1])
        return -EINVAL;
    gone_copy(l, &from);
    return l->len ? 0 : -ENOMEM;
}

/* --- saving the list */

/* Returns the id of the process that the host started with this tag, or 0. */
static uint64_t
gone_id_of(struct wsand_sandbox *sb, uint64_t tag)
{
    struct processes *ps = &sb->processes;
    uint64_t id = 0;

    pthread_mutex_lock(&ps->lock);
    LIST_FOR_EACH(it, &ps->running) {
        const struct process *p = CONTAINER_OF(it, struct process, link);
        if (p->tag == tag)
            id = p->id;
    }
    pthread_mutex_unlock(&ps->lock);
    return id;
}

/* Writes the arguments with spaces between them, at most `size` bytes. */
static size_t
gone_put_command(const struct args *a, char *to, size_t size)
{
    const char *from = a->strings;
    size_t n = 0;

    for (uint32_t i = 0; i < a->argc; i++, from += strlen(from) + 1) {
        if (i && n < size)
            to[n++] = ' ';
        for (const char *c = from; *c && n < size; c++)
            to[n++] = *c;
    }
    return n;
}

/* Appends one process, unless the list is full. */
static void
gone_put_task(struct wsand_sandbox *sb, const struct task *t, struct buf *b)
{
    char line[COMMAND_BYTES + 48];
    int n = snprintf(line, sizeof line, "%d %llu ", t->pid,
                     (unsigned long long)gone_id_of(sb, t->run_tag));
    size_t len =
        (size_t)n + gone_put_command(&t->args, line + n, COMMAND_BYTES);

    if (b->len + len + 1 > GONE_BYTES_MAX)
        return;
    buf_add(b, line, len);
    buf_add(b, "", 1);
}

/* The shell is copied, init exists in every sandbox, and zombies have ended.
 * All others are lost. */
int
gone_list(struct wsand_sandbox *sb, struct gone *ret)
{
    struct buf b;

    buf_init(&b, GONE_BYTES_MAX);
    LIST_FOR_EACH(it, &sb->kernel->tasks) {
        const struct task *t = CONTAINER_OF(it, struct task, link);
        if (t != sb->kernel->init && !t->resident && !task_is_over(t))
            gone_put_task(sb, t, &b);
    }
    if (b.error) {
        int r = b.error;
        buf_fini(&b);
        return r;
    }
    ret->len = b.len;
    ret->p = buf_steal(&b);
    return 0;
}

/* --- reporting the list */

static size_t
gone_count(const struct gone *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->len; i++)
        n += !l->p[i];
    return n;
}

/* The list and its strings are one allocation, which the caller frees. */
int
wsand_not_copied(struct wsand_sandbox *sb, struct wsand_lost_process **ret,
                 size_t *ret_n, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    const struct gone *l = &sb->gone;
    size_t n = gone_count(l);
    struct wsand_lost_process *v = calloc(1, (n + 1) * sizeof *v + l->len);

    if (!v)
        return error_set(err, ENOMEM, "out of memory");
    char *text = (char *)(v + n + 1);
    if (l->len)
        memcpy(text, l->p, l->len);
    for (size_t i = 0; i < n; i++, text += strlen(text) + 1) {
        char *end;
        v[i].pid = (int)strtol(text, &end, 10);
        v[i].process_id = strtoull(end, &end, 10);
        v[i].command = end + (*end == ' ');
    }
    *ret = v;
    *ret_n = n;
    return 0;
}
