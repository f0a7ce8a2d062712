/* The field `message` of a run's result: the limit that was hit, and what the
 * client can do about it. */
#include "rpc/advice.h"

#include "rpc/config.h"
#include "rpc/slot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One row for each limit that a run can hit. `param` and `session` name the
 * parameter that raises it, of `create` and of `session.create`. */
struct advice {
    const char *limit, *what, *unit;
    const char *help; /* without raising it */
    const char *param, *session;
    size_t max; /* where its value is in struct wsand_status; 0: nowhere */
};

#define MAX_OF(name) offsetof(struct wsand_status, max.name)

static const struct advice rows[] = {
    {"cpu", "CPU time", " ms", "split the work into several runs",
     "limits.cpuMs", NULL, MAX_OF(cpu_ms)},
    {"memory", "memory", " bytes", "use less memory at a time",
     "limits.memoryBytes", "limits.memoryMb", MAX_OF(memory_bytes)},
    {"processes", "process", "", "end background processes", "limits.processes",
     "limits.maxProcesses", MAX_OF(processes)},
    {"files", "file count", "", "remove files", "limits.fileCount",
     "fileCount or limits.diskMb", MAX_OF(files)},
    {"file_bytes", "file bytes", " bytes", "remove files", "fsLimitBytes",
     "limits.diskMb", MAX_OF(file_bytes)},
    {"mount_files", "host folder file count", "", "remove files there",
     "mounts[].fileCount", NULL, 0},
    {"mount_bytes", "host folder file bytes", " bytes", "remove files there",
     "mounts[].limitBytes", NULL, 0},
    {"fds", "open files per process", "", "close files that are not needed",
     NULL, NULL, 0},
    {"open_files", "open files", "", "end processes or close files", NULL, NULL,
     0},
    {"mappings", "shared mappings", "", "unmap memory that is not needed", NULL,
     NULL, 0},
    {"locks", "file locks", "", "release locks that are not needed", NULL, NULL,
     0},
    {"sigqueue", "queued signals and timers", "",
     "delete timers that are not needed", NULL, NULL, 0},
};

static const struct advice *
advice_find(const char *limit)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].limit, limit))
            return &rows[i];
    return NULL;
}

/* Limits without a figure in the status have none in the text either. */
static uint64_t
advice_value(const struct call *q, const struct advice *a)
{
    struct wsand_status st = {.size = sizeof st};
    uint64_t value = 0;

    if (a->max && wsand_status(sandbox_of(q), &st, NULL) == 0)
        memcpy(&value, (const char *)&st + a->max, sizeof value);
    return value;
}

/* A session has other names for some limits, and others cannot be raised by a
 * client. */
static void
advice_put_limit(const struct call *q, const struct advice *a, struct buf *to)
{
    const char *param = server_of(q)->worker ? a->session : a->param;
    uint64_t max = advice_value(q, a);

    buf_printf(to, "%s limit reached", a->what);
    if (max)
        buf_printf(to, " (max: %" PRIu64 "%s)", max, a->unit);
    buf_printf(to, ": %s", a->help);
    if (param)
        buf_printf(to, " or raise %s", param);
}

/* The command did not run at all, so its length is all there is to report. */
static void
advice_put_too_long(const struct call *q, struct buf *to)
{
    buf_printf(to,
               "command too long (%zu bytes, limit: %" PRIu64
               "): write it to a file with files.write and run the file",
               param_string(q, "command").len,
               slot_of(q)->config->command_bytes);
    buf_printf(to, " or raise %scommandBytes",
               server_of(q)->worker ? "" : "limits.");
}

/* If both streams were cut, standard output is named. */
static void
advice_put_truncated(const struct call *q, const struct wsand_output *o,
                     struct buf *to)
{
    const struct sandbox_config *c = slot_of(q)->config;
    const char *name = o->out_dropped ? "stdout" : "stderr";
    uint64_t max = o->out_dropped ? c->stdout_bytes : c->stderr_bytes;

    buf_printf(to,
               "%s limit reached (max: %" PRIu64
               " bytes): redirect the output to a file",
               name, max);
    if (!server_of(q)->worker)
        buf_printf(to, " or raise limits.%sBytes", name);
}

/* The texts are for people and for agents that read the result: what happened,
 * and what helps. */
void
put_message(struct buf *b, const struct call *q, const struct wsand_output *o)
{
    const struct advice *a = o->limit ? advice_find(o->limit) : NULL;
    struct buf text;

    buf_init(&text, SIZE_MAX);
    if (o->timed_out)
        buf_printf(&text,
                   "timed out after %" PRIu64 " ms: start long commands with & "
                   "or raise timeoutMs",
                   o->time_us / 1000);
    else if (a)
        advice_put_limit(q, a, &text);
    else if (o->limit && !strcmp(o->limit, "command"))
        advice_put_too_long(q, &text);
    else if (o->limit)
        buf_printf(&text, "%s limit reached", o->limit);
    else if (o->out_dropped || o->err_dropped)
        advice_put_truncated(q, o, &text);
    if (text.len) {
        put_name(b, "message");
        put_string(b, text.p, text.len);
    }
    buf_fini(&text);
}
